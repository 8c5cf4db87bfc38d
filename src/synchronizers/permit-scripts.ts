import { randomBytes } from 'node:crypto'
import type { LeasedPermitsWanted } from '../api/leased-permit-arguments'
import type { Context } from '../client/context'
import { ServerTime } from '../client/server-time'
import type { Orphan } from '../leases/orphan-releaser'
import { suffixed } from '../redis/names'
import { script } from '../scripts/script'
import type { Reply, ScriptCall } from '../scripts/script-call'
import { quote } from '../util/quote'
import { type Attempt, blocked, GRANTED, type Outcome } from '../waiting/attempt'
import { IN_PARTS, untilRecheck } from '../waiting/wait-policy'
import type { WaitTarget } from '../waiting/wait-target'
import { semaphoreChannel, warnOfNoSemaphore } from './semaphores'

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
  // When the next lease ends is known; Java does not publish that it was shortened.
  const recheck = untilRecheck()
  return { ...blocked(wait < 0 ? recheck : Math.min(wait, recheck)), left }
}

const TAKEN = 1
const LATE = 2
const NO_SEMAPHORE = -1

/** The last look for late copies comes later than that (orphan-releaser.ts), in ms. */
const LONGEST_DEADLINE = 10_000
/** A deadline of long ago: the server answers with its time, and takes nothing. */
const ASKS_FOR_TIME = 1
const NO_DEADLINE = 0

/** What giving permits back was answered. */
export interface ReleaseReply {
  readonly isPublished: boolean
  /** For each: it was out; its lease had ended; it was not out. */
  readonly states: readonly ('released' | 'expired' | 'absent')[]
}

function decodeRelease(raw: unknown): ReleaseReply {
  const [published, ...states] = raw as number[]
  return {
    isPublished: published === 1,
    states: states.map((state) => (state === 1 ? 'released' : state === -1 ? 'expired' : 'absent')),
  }
}

/** The sorted set of the permits that are out. */
export function timeoutsKey(key: string): string {
  return suffixed(key, 'timeout')
}

/** The names of one semaphore whose permits expire, and how they are taken and released. */
export class PermitScripts {
  readonly target: WaitTarget
  readonly keys: readonly string[]
  private readonly time: ServerTime

  constructor(
    readonly context: Context,
    readonly name: string,
    readonly key: string,
  ) {
    this.time = ServerTime.of(context)
    const lockId = `permits ${key}`
    this.target = { lockId, key, lockIds: [lockId], channel: semaphoreChannel(key), policy: IN_PARTS }
    this.keys = [key, timeoutsKey(key)]
  }

  get messages(): readonly [channel: string, publish: string] {
    return [this.target.channel, this.context.publishCommand]
  }

  /** `lease`: in ms; undefined: without end. */
  acquire(ids: readonly string[], lease: number | undefined): ScriptCall<Outcome<undefined>> {
    const { scripts } = this.context
    // Permits that a late copy takes come back when their lease ends; those without one never would.
    const unknown = lease === undefined ? ASKS_FOR_TIME : NO_DEADLINE
    // The call is given up then, as a rule, and a copy that arrives later may take nothing.
    const deadline = this.time.in(Math.min(scripts.longestCall, LONGEST_DEADLINE)) ?? unknown
    const args = [lease ?? 0, ...this.messages, deadline, ids.length, ...ids]
    const call = scripts.run(ACQUIRE, this.keys, args, true)
    call.whenAnswered(
      ({ value }) => this.time.learn((value as Answer).serverTime),
      () => {},
    )
    return call
  }

  /** Releases those that are out; with `all` none of them where one is not, or its lease had ended. */
  async release(ids: readonly string[], all: boolean): Promise<Reply<ReleaseReply>> {
    const reply = await this.context.scripts.run(
      RELEASE,
      this.keys,
      [all ? 1 : 0, ...this.messages, ...ids],
      true,
    ).answer
    this.published(reply.value.isPublished)
    return reply
  }

  /** The server published a change, or refused to: then local waiters look by themselves. */
  published(isPublished: boolean): void {
    const { context, name, target } = this
    context.unpublishedReleases.released(
      { name, channel: target.channel },
      { result: 'freed', notified: isPublished ? 0 : undefined },
    )
    if (!isPublished) context.queues.mayBeFree(target)
  }

  /** What may be out though no caller has it. `lease`: in ms; undefined: without end. */
  orphan(ids: readonly string[], lease: number | undefined): Orphan {
    return {
      lease: lease ?? Number.POSITIVE_INFINITY,
      release: async () => void (await this.release(ids, false)),
    }
  }
}

/**
 * One caller's attempt to take permits. Its ids are new, and the same for all its tries: what is out once is not taken
 * twice.
 */
export class LeasedPermitsAttempt implements Attempt<undefined> {
  readonly ids: readonly string[]
  /** When a waiter behind this one looks again at the latest. */
  readonly lease = untilRecheck()
  readonly needs: number
  readonly waitTime: number | undefined
  readonly signal: AbortSignal | undefined
  /** The last try came after its deadline: whether there are permits is not known. */
  isLate = false
  private isAbsent = false
  private hasWarned = false

  constructor(
    private readonly scripts: PermitScripts,
    { permits, waitTime, signal }: LeasedPermitsWanted,
    /** In ms; undefined: without end. */
    readonly permitLease: number | undefined,
  ) {
    this.needs = permits
    this.waitTime = waitTime
    this.signal = signal
    this.ids = Array.from({ length: permits }, () => randomBytes(16).toString('hex'))
  }

  get subject(): string {
    return `permits of the semaphore ${quote(this.scripts.name)}`
  }

  send(): ScriptCall<Outcome<undefined>> {
    const call = this.scripts.acquire(this.ids, this.permitLease)
    call.whenAnswered(
      ({ value }) => {
        this.isAbsent = value.left === NO_SEMAPHORE
        this.isLate = (value as Answer).isLate
      },
      () => {},
    )
    return call
  }

  undo(inFlight: ScriptCall<Outcome<undefined>> | undefined, lateCopyPossible: boolean): void {
    const { orphans, clock } = this.scripts.context
    const orphan = this.scripts.orphan(this.ids, this.permitLease)
    if (lateCopyPossible) orphans.lateCopy(orphan)
    if (inFlight) orphans.attempt(orphan, inFlight, ({ granted }) => granted)
    else orphans.hold(orphan, clock.now())
  }

  waitedLong(): void {
    if (!this.isAbsent || this.hasWarned) return
    this.hasWarned = true
    warnOfNoSemaphore(this.subject)
  }
}
