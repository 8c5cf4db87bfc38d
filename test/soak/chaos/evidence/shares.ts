import type { Disturbances } from './disturbances'
import { isJava, type LockState, processOf, type Section } from './sections'

/** A share is judged over this much time (µs) in which the process wanted the lock and no fault touched it, at least ... */
const WINDOW = 30_000_000
/**
 * ... and over so many sections that were due to it: of fewer, chance may take four in five. A process that is 5 ms farther away
 * gets two in five of a lock that is held for seconds, because the others hear of a release before it.
 */
const LEAST_DUE = 40
/** A process that gets less of what is due to it is starved. */
const STARVED_BELOW = 1 / 5

/** What one process had of a lock between two looks. */
interface Slice {
  readonly from: number
  /** How long it wanted the lock with no fault of its own. */
  wanted: number
  /** Sections of all while it wanted the lock, each divided by the number of processes that did. */
  due: number
  /** Its own sections. */
  got: number
}

interface Account {
  /** As the process is called now. */
  worker: string
  slices: Slice[]
}

/** A process and its share of a lock, over the latest window. */
export interface Share {
  readonly lock: string
  readonly worker: string
  readonly wanted: number
  readonly due: number
  readonly got: number
  readonly isStarved: boolean
}

/**
 * How processes share the sections of a lock that are for one alone. Each such section is due, in equal parts, to
 * the processes that wait for one when it begins, whichever gets it; what happens while a fault touches a process
 * counts neither as due to it nor as got. A worker that was killed and its successor are one process. A lock that readers take,
 * too, is not judged.
 */
export class Shares {
  private readonly accounts = new Map<string, Map<string, Account>>()
  /** The locks that readers take, too. Nothing is promised to their writers: readers enter while a writer is on its way. */
  private readonly readToo = new Set<string>()
  private lastLook: number | undefined

  constructor(private readonly disturbances: Disturbances) {}

  /** To be notified before the section is taken from among the waiting. */
  entered(lock: LockState, section: Section): void {
    if (section.side === 'r' && !isInside(lock, section)) {
      this.readToo.add(lock.name)
      this.accounts.delete(lock.name)
    }
    if (section.side === 'r' || this.readToo.has(lock.name)) return
    const wanting = wantedBy(lock).set(processOf(section.worker), section.worker)
    for (const [process, worker] of wanting) {
      if (this.disturbances.touching(worker, section.inAt, section.inAt).length > 0) continue
      const slice = this.accountOf(lock.name, process, worker).slices.at(-1)!
      slice.due += 1 / wanting.size
      if (worker === section.worker) slice.got++
    }
  }

  /** What a Java thread kept through its turns by a count too many was never offered to others. */
  forget({ name }: LockState, from: number): void {
    for (const account of this.accounts.get(name)?.values() ?? [])
      account.slices = [...account.slices.filter((slice) => slice.from < from), emptySlice(from)]
  }

  /** Answers the shares of all whose window is complete; to be called every second or so. */
  look(locks: Iterable<LockState>, now: number): Share[] {
    const since = this.lastLook ?? now
    this.lastLook = now
    return [...locks].flatMap((lock) => {
      const wanting = wantedBy(lock)
      return [...(this.accounts.get(lock.name) ?? [])].flatMap(([process, account]) => {
        account.worker = wanting.get(process) ?? account.worker
        const slice = account.slices.at(-1)!
        if (wanting.has(process) || slice.due > 0)
          slice.wanted = this.disturbances.quiet(account.worker, since, now)
        const share = shareOf(lock.name, account)
        if (share?.isStarved) account.slices = [emptySlice(now)]
        else if (slice.wanted > 0 || slice.due > 0) account.slices.push(emptySlice(now))
        return share ?? []
      })
    })
  }

  private accountOf(lock: string, process: string, worker: string): Account {
    let processes = this.accounts.get(lock)
    if (!processes) {
      processes = new Map()
      this.accounts.set(lock, processes)
    }
    let account = processes.get(process)
    if (!account) {
      account = { worker, slices: [emptySlice(this.lastLook ?? 0)] }
      processes.set(process, account)
    }
    return account
  }
}

/** A writer that steps down to reading is inside already. */
const isInside = (lock: LockState, { worker, caller }: Section): boolean =>
  [...lock.inside.values()].some((other) => other.worker === worker && other.caller === caller)

/** The processes that wait for a section of their own, with the names of their workers. */
function wantedBy(lock: LockState): Map<string, string> {
  const wanting = new Map<string, string>()
  for (const { side, worker } of lock.waiting.values())
    if (side !== 'r') wanting.set(processOf(worker), worker)
  return wanting
}

/** The latest slices that make a window; those before them are dropped. */
function shareOf(lock: string, { worker, slices }: Account): Share | undefined {
  let wanted = 0
  let due = 0
  let got = 0
  for (let at = slices.length - 1; at >= 0; at--) {
    wanted += slices[at]!.wanted
    due += slices[at]!.due
    got += slices[at]!.got
    if (wanted < WINDOW || due < LEAST_DUE) continue
    slices.splice(0, at)
    return { lock, worker, wanted, due, got, isStarved: got < due * STARVED_BELOW }
  }
  return undefined
}

const emptySlice = (from: number): Slice => ({ from, wanted: 0, due: 0, got: 0 })

/** A lock that is wanted for this long (µs) by a process that no fault touches, with no caller inside, stands still. */
const STANDSTILL_AFTER = 5_000_000
/** Several locks at once, or a majority of them, take several tries: so long without any that succeeds is no chance. */
const SEVERAL_STAND_STILL_AFTER = 15_000_000
/** How recently a key must have been seen with an owner that excuses it. */
const JUST_NOW = 1_500_000

interface Standstill {
  readonly lock: LockState
  /** One of those that want it. */
  readonly worker: string
  readonly since: number
}

/** Finds locks that no caller comes into: their keys may come and go meanwhile, or be kept. */
export class Standstills {
  private readonly since = new Map<LockState, { at: number; grants: number }>()

  constructor(private readonly disturbances: Disturbances) {}

  look(locks: readonly LockState[], now: number): Standstill[] {
    return locks.flatMap((lock) => {
      const last = this.since.get(lock)
      const workers = new Set([...lock.waiting.values()].map(({ worker }) => worker))
      const wanting = [...workers].filter((worker) => !isJava(worker))
      const isLeft = now - (lock.leftToLeaseUntil ?? Number.NEGATIVE_INFINITY) < JUST_NOW
      const stands = last?.grants === lock.grants && !lock.isInside() && wanting.length > 0 && !isLeft
      if (!last || !stands) {
        this.since.set(lock, { at: now, grants: lock.grants })
        return []
      }
      const limit = (lock.ofSeveral ? SEVERAL_STAND_STILL_AFTER : STANDSTILL_AFTER) + lock.keptForMembers
      const worker = wanting.find((each) => this.disturbances.quiet(each, last.at, now) >= limit)
      if (worker === undefined) return []
      this.since.set(lock, { at: now, grants: lock.grants })
      return { lock, worker, since: last.at }
    })
  }
}
