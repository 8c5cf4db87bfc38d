import type { Client } from '../client/client'
import type { LockState } from '../engine/leased-lock'
import type { AttemptOptions, LockAttempt, LockKind, Payload, ReenterReply } from '../engine/lock-kind'
import { lockOrphan } from '../engine/lock-orphan'
import { ANSWER, PLAIN_REPLIES, type ReleaseReply } from '../engine/release-reply'
import type { Renewal } from '../leases/leased'
import type { LogicalThread } from '../ownership/logical-thread'
import { processState } from '../ownership/process-state'
import { script } from '../scripts/script'
import type { ScriptCall } from '../scripts/script-call'
import { quote } from '../util/quote'
import type { Admission, WaitTarget } from '../waiting/admission'
import { type Outcome, outcomeOf } from '../waiting/attempt'

const NO_PARTS: readonly string[] = []

function decodeReenter(raw: unknown): ReenterReply {
  return { leaseEnd: Number(raw), grant: undefined }
}

export function decodeRelease(raw: unknown): ReleaseReply {
  const plain = typeof raw === 'number' ? PLAIN_REPLIES[raw] : undefined
  if (plain) return plain
  const [answer, value] = raw as [number, number]
  if (answer === ANSWER.freed) return { result: 'freed', notified: value }
  return { result: answer === ANSWER.reduced ? 'reduced' : 'other-lease', leaseEnd: value }
}

function decodeInspect(raw: unknown): LockState {
  const [timeToLive, count, ...holders] = raw as [number, number, ...string[]]
  return { timeToLive, count, holders }
}

type Reentrant = 'lock' | 'read-lock' | 'write-lock'

/** The scripts that every kind of lock has: those of the kind whose folder in lua/ has this name. */
export function scriptsIn(folder: Reentrant | 'token-lock') {
  return {
    acquire: script<Outcome<Payload>>(`${folder}/acquire`, outcomeOf),
    release: script(`${folder}/release`, decodeRelease),
    forceRelease: script(`${folder}/force-release`, decodeRelease),
    inspect: script(`${folder}/inspect`, decodeInspect),
  }
}

/** The same, and the script of a kind that can be re-entered. */
export function reentrantScriptsIn(folder: Reentrant) {
  return { ...scriptsIn(folder), reenter: script(`${folder}/reenter`, decodeReenter) }
}

type LockScripts = ReturnType<typeof scriptsIn> & Partial<ReturnType<typeof reentrantScriptsIn>>

// biome-ignore lint/suspicious/noExplicitAny: a class of attempts may be for its own kind of lock alone.
type AttemptClass = new (kind: any, options: AttemptOptions, waitTime: number) => LockAttempt

/**
 * The names of one lock, in its client and in Redis, and the calls of its scripts that most kinds of locks
 * send alike.
 */
export abstract class BaseLockKind implements LockKind {
  abstract readonly kind: string
  abstract readonly takesTurns: boolean
  abstract readonly admission: () => Admission
  abstract readonly renewal: Renewal
  readonly relatedIds: readonly string[]
  /** What the scripts that end holds take beside the lock: how its timeout keys are named. */
  protected readonly timeoutKeyParts: readonly string[] = NO_PARTS
  /** The class of its attempts. */
  protected readonly Attempt: AttemptClass = AcquireAttempt
  protected abstract readonly own: LockScripts

  /** `otherId`: that of the queue, or of the side, whose waiters may also enter when this lock is free. */
  constructor(
    readonly name: string,
    readonly key: string,
    readonly client: Client,
    readonly objectId: string,
    readonly channel: string,
    otherId?: string,
    /** The keys of the scripts that need all keys of the lock on one node. */
    protected readonly guardedKeys: readonly string[] = [key],
  ) {
    this.relatedIds = otherId === undefined ? [objectId] : [objectId, otherId]
  }

  /** For messages. */
  get subject(): string {
    return `the lock ${quote(this.name)}`
  }

  /** The queue that the attempts of this owner join. */
  queueOf(_owner: string): WaitTarget {
    return this
  }

  /** The hash field that stands for one holder. */
  ownerField(threadId: number): string {
    return `${this.client.owners}${threadId}`
  }

  newAttempt(options: AttemptOptions, waitTime: number): LockAttempt {
    return new this.Attempt(this, options, waitTime)
  }

  acquire(owner: string, lease: number): ScriptCall<Outcome<Payload>> {
    return this.client.scripts.run(this.own.acquire, this.guardedKeys, [owner, lease], true)
  }

  reenter(owner: string, lease: number, count: number, releasedEnd: number): ScriptCall<ReenterReply> {
    return this.client.scripts.run(this.own.reenter!, [this.key], [owner, lease, count, releasedEnd], true)
  }

  release(owner: string, count: number, lease: number, leaseEnd: number): ScriptCall<ReleaseReply> {
    const { channel, client, timeoutKeyParts } = this
    const args = [owner, count, lease, channel, client.publishCommand, leaseEnd, ...timeoutKeyParts]
    return client.scripts.run(this.own.release, this.guardedKeys, args)
  }

  forceRelease(owners: readonly string[]): ScriptCall<ReleaseReply> {
    const { channel, client, timeoutKeyParts } = this
    const args = [...timeoutKeyParts, channel, client.publishCommand, ...owners]
    return client.scripts.run(this.own.forceRelease, [this.key], args)
  }

  inspect(owner: string): ScriptCall<LockState> {
    return this.client.scripts.run(this.own.inspect, [this.key], [owner])
  }
}

/** One owner's attempt at one lock. All its tries have the same owner, so they are granted once. */
export class AcquireAttempt<Kind extends BaseLockKind = BaseLockKind> implements LockAttempt {
  at: string | undefined
  readonly threadId = processState.nextThreadId++
  readonly owner: string
  readonly target: WaitTarget
  readonly lease: number
  readonly signal: AbortSignal | undefined
  readonly thread: LogicalThread | undefined

  constructor(
    protected readonly kind: Kind,
    { caller, lease, signal }: AttemptOptions,
    readonly waitTime: number,
    target?: WaitTarget,
  ) {
    this.owner = kind.ownerField(this.threadId)
    this.target = target ?? kind.queueOf(this.owner)
    this.lease = lease
    this.signal = signal
    this.thread = caller.thread
  }

  send(): ScriptCall<Outcome<Payload>> {
    return this.kind.acquire(this.owner, this.lease)
  }

  undo(inFlight: ScriptCall<Outcome<Payload>> | undefined): void {
    const { kind, owner, lease } = this
    kind.client.orphans.afterTry(lockOrphan(kind.client, kind, owner, lease), inFlight)
  }
}
