import type { LeasedPermitsWanted } from '../api/expirable-permit-arguments'
import { ServerTime } from '../client/server-time'
import type { Orphan } from '../leases/orphan-releaser'
import { suffixed } from '../redis/names'
import { script } from '../scripts/script'
import type { Reply, ScriptCall } from '../scripts/script-call'
import { randomHex } from '../util/random'
import { blocked, GRANTED, type Outcome } from '../waiting/attempt'
import { untilRecheck } from '../waiting/wait-policy'
import { NO_SEMAPHORE, PermitsAttempt } from './permits-attempt'
import type { Synchronizer } from './synchronizer'

const ACQUIRE = script('permit-expirable-semaphore/acquire', decodeAcquire)
const RELEASE = script('permit-expirable-semaphore/release', decodeRelease)

/** What an acquisition was answered. */
type Answer = Outcome<undefined> & {
  /** The time by the server's clock in ms. */
  readonly serverTime: number
  /** It came after its deadline, and changed nothing. */
  readonly isLate: boolean
}

/** See lua/permit-expirable-semaphore/acquire.lua. */
function decodeAcquire(raw: unknown): Outcome<undefined> {
  const [answer, serverTime = 0, left = NO_SEMAPHORE, wait = -1] = raw as number[]
  return { ...outcome(answer, left, wait), serverTime, isLate: answer === LATE } as Answer
}

function outcome(answer: number | undefined, left: number, wait: number): Outcome<undefined> {
  if (answer === TAKEN) return GRANTED
  if (answer === LATE) return blocked(0)
  // The wait ends with the next lease, or earlier: Java publishes no message when it shortens a lease.
  const recheck = untilRecheck()
  return { ...blocked(wait < 0 ? recheck : Math.min(wait, recheck)), left }
}

const TAKEN = 1
const LATE = 2

/** In ms. The last release of a late copy comes after this (orphan-releaser.ts). */
const LONGEST_DEADLINE = 10_000
/** A deadline in the past: the server answers with its time, and grants nothing. */
const ASKS_FOR_TIME = 1
const NO_DEADLINE = 0

/** The answer to a release of permits. */
export interface ReleaseReply {
  /** For `Synchronizer.changed`. */
  readonly change: number
  /** For each permit: it was in use, its lease had ended, or it was not in use. */
  readonly states: readonly ('released' | 'expired' | 'absent')[]
}

function decodeRelease(raw: unknown): ReleaseReply {
  const [change = 0, ...states] = raw as number[]
  return {
    change,
    states: states.map((state) => (state === 1 ? 'released' : state === -1 ? 'expired' : 'absent')),
  }
}

/** The sorted set of the permits in use. */
export function timeoutsKey(key: string): string {
  return suffixed(key, 'timeout')
}

/** What the leases and the attempts of one semaphore whose permits expire share. */
export class PermitScripts {
  readonly time: ServerTime

  constructor(readonly semaphore: Synchronizer) {
    this.time = ServerTime.of(semaphore.context)
  }

  /** Releases the permits in use. With `all`, releases none if one of them is not in use or its lease has ended. */
  async release(ids: readonly string[], all: boolean): Promise<Reply<ReleaseReply>> {
    const { semaphore } = this
    const args = [all ? 1 : 0, ...semaphore.messages, ...ids]
    const reply = await semaphore.context.scripts.run(RELEASE, semaphore.keys, args, true).answer
    semaphore.changed(reply.value.change)
    return reply
  }

  /** Permits that may be in use although no caller has them. `lease`: in ms; undefined: without end. */
  orphan(ids: readonly string[], lease: number | undefined): Orphan {
    return {
      lease: lease ?? Number.POSITIVE_INFINITY,
      release: async () => void (await this.release(ids, false)),
    }
  }
}

const ID_BYTES = 16
/**
 * One caller's attempt to acquire permits. Its ids are new, and all its tries use the same ids, so no permit is acquired
 * twice.
 */
export class LeasedPermitsAttempt extends PermitsAttempt {
  readonly ids: readonly string[]

  constructor(
    private readonly scripts: PermitScripts,
    wanted: LeasedPermitsWanted,
    /** In ms; undefined: without end. */
    private readonly permitLease: number | undefined,
  ) {
    super(scripts.semaphore, wanted)
    this.ids = Array.from({ length: wanted.permits }, () => randomHex(ID_BYTES))
  }

  send(): ScriptCall<Outcome<undefined>> {
    const { permitLease: lease, ids } = this
    const { time, semaphore } = this.scripts
    const { context, keys, messages } = semaphore
    const { scripts } = context
    // Used while the server's time is unknown. A late copy of a leased acquisition needs no deadline: its permits expire.
    // Without a lease they never expire, so this try only asks for the time.
    const unknown = lease === undefined ? ASKS_FOR_TIME : NO_DEADLINE
    // By this deadline the executor has usually rejected the call. A copy that arrives later must take nothing.
    const deadline = time.in(Math.min(scripts.longestCall, LONGEST_DEADLINE)) ?? unknown
    const args = [lease ?? 0, ...messages, deadline, ids.length, ...ids]
    const call: ScriptCall<Outcome<undefined>> = scripts.run(ACQUIRE, keys, args, true)
    call.whenAnswered(
      ({ value }) => {
        time.learn((value as Answer).serverTime)
        this.answered(value)
      },
      () => {},
    )
    return call
  }

  undo(inFlight: ScriptCall<Outcome<undefined>> | undefined, lateCopyPossible: boolean): void {
    const { orphans, clock } = this.semaphore.context
    const orphan = this.scripts.orphan(this.ids, this.permitLease)
    if (lateCopyPossible) orphans.lateCopy(orphan)
    if (inFlight) orphans.afterTry(orphan, inFlight, ({ granted }) => granted)
    else orphans.hold(orphan, clock.now())
  }
}
