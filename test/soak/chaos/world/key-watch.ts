import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import type { Judge } from '../evidence/judge'
import { micros } from '../evidence/records'
import type { LockKind, LockPlan } from '../plan/objects'
import type { Epochs } from '../worker/messages'
import { DATABASE, type Topology } from './topology'

/** What Redis has of a lock. */
interface KeyReading {
  /** Who holds it: fields, or the token. */
  readonly fields: readonly string[]
  /** That of a fair lock: its first is let in before all others. */
  readonly queue: readonly string[] | undefined
}

const FAIR: readonly LockKind[] = ['fair', 'nonReentrantFair']

async function readKey({ observer }: Topology, { name, kind }: LockPlan): Promise<KeyReading> {
  if (kind === 'token') {
    const token = await observer.get(name)
    return { fields: token === null ? [] : [token], queue: undefined }
  }
  const isFair = FAIR.includes(kind)
  const both = observer.multi().hkeys(name)
  if (isFair) both.lrange(queueOf(name), 0, -1)
  const [keys, queue] = ((await both.exec()) ?? []).map(([error, answer]) => {
    if (error) throw error
    return answer as string[]
  })
  return { fields: keys!.filter((field) => field !== 'mode'), queue }
}

const queueOf = (name: string): string => `redisson_lock_queue:{${name}}`

const EVERY_MS = 200

interface Seen {
  /** Since when every look found the key of this owner and no caller inside. */
  readonly keptSince: ReadonlyMap<string, number>
  /** Since when every look found this owner, and how many turns its process had had by then. */
  readonly thereSince: ReadonlyMap<string, { readonly at: number; readonly turns: number }>
}

/** Looks at the keys of the locks in Redis: who has them, and who is in their queues. */
export class KeyWatch {
  private readonly seen = new Map<string, Seen>()
  private timer: NodeJS.Timeout | undefined
  private looking = false
  private strayed = false

  constructor(
    private readonly topology: Topology,
    private readonly locks: readonly LockPlan[],
    private readonly judge: Judge,
    private readonly namesByClientId: ReadonlyMap<string, string>,
  ) {}

  start(): void {
    this.timer = setInterval(() => void this.look(), EVERY_MS)
  }

  stop(): void {
    clearInterval(this.timer)
  }

  private async look() {
    if (this.looking) return
    this.looking = true
    // A look that fails leaves the state unknown: all times start anew.
    await Promise.all([
      ...this.locks.map((plan) => this.lookAt(plan).catch(() => this.seen.delete(plan.name))),
      this.lookElsewhere().catch(() => {}),
    ]).finally(() => {
      this.looking = false
    })
  }

  /** A lock in another database than the one that all were given excludes no process. */
  private async lookElsewhere() {
    const { observer } = this.topology
    if (this.strayed || !(observer instanceof Redis)) return
    const keyspace = await observer.info('keyspace')
    const others = [...keyspace.matchAll(/^db(\d+):keys=(\d+)/gm)].filter(([, db]) => Number(db) !== DATABASE)
    if (others.length === 0) return
    this.strayed = true
    const what = others.map(([, db, keys]) => `${keys} keys are in database ${db}`).join(', ')
    this.judge.violation('wrong-database', micros(), `${what}, and all work in database ${DATABASE}`)
  }

  private async lookAt(plan: LockPlan) {
    const { name } = plan
    const asked = micros()
    const lock = this.judge.progress.lock(name)
    const { grants } = lock
    const { fields, queue } = await readKey(this.topology, plan)
    this.judge.seen({
      name,
      askedAt: asked,
      answeredAt: micros(),
      owners: fields,
      ...(queue ? { queue } : {}),
    })
    // Before its place lapses no other is let in.
    const head = queue?.[0]
    if (head !== undefined && this.judge.progress.isAway(this.ownerOf(head), asked))
      lock.leftToLeaseUntil = asked
    const last = this.seen.get(name)
    const idle = grants === lock.grants && !lock.isInside()
    const kept = idle ? fields.map((field) => [field, last?.keptSince.get(field) ?? asked] as const) : []
    const there = fields.map((field) => {
      const turns = lock.turnsBy.get(this.ownerOf(field)) ?? 0
      return [field, last?.thereSince.get(field) ?? { at: asked, turns }] as const
    })
    this.seen.set(name, { keptSince: new Map(kept), thereSince: new Map(there) })
    for (const [field, { at, turns }] of there)
      this.judge.progress.keyHeldOn(name, { field, worker: this.ownerOf(field) }, turns, at, asked)
    for (const [field, since] of kept)
      if (since !== asked) this.judge.progress.keyKept(name, this.ownerOf(field), since, asked)
  }

  private ownerOf(field: string): string {
    return this.namesByClientId.get(field.slice(0, field.indexOf(':'))) ?? 'a stranger'
  }
}

/** ms */
const CONNECTED_WITHIN = 1_500

/** Which generation of the objects is in use; a new one begins where the last can no longer be judged. */
export class EpochCount {
  private current: Epochs = { withoutOwners: 0, others: 0 }

  constructor(private readonly onNext: (epochs: Epochs) => void) {}

  get now(): Epochs {
    return this.current
  }

  /** What the server confirmed may be gone. The next generation begins when all clients are at the new primary. */
  async dataLost(): Promise<void> {
    await sleep(CONNECTED_WITHIN)
    const { withoutOwners, others } = this.current
    this.begin({ withoutOwners: withoutOwners + 1, others: others + 1 })
  }

  /** Permits without owners stay with the process that was killed. */
  workerKilled(): void {
    const { withoutOwners, others } = this.current
    this.begin({ withoutOwners: withoutOwners + 1, others })
  }

  private begin(epochs: Epochs) {
    this.current = epochs
    this.onNext(epochs)
  }
}
