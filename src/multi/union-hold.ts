import { inspect } from 'node:util'
import { type ReleaseOptions, releaseOptions } from '../api/arguments'
import {
  IllegalMonitorStateError,
  LockLostError,
  type LockMember,
  RedissonShutdownError,
} from '../api/errors'
import type { LockHold } from '../api/lock-hold'
import type { LogicalThread } from '../ownership/logical-thread'
import { newThreadId } from '../ownership/process-state'
import { AcquiredLockHold } from '../reentrant/acquired-lock-hold'
import { onAbort, unlessAborted } from '../util/abort'
import { inThisContext } from '../util/async-context'
import type { Moment, Timer } from '../util/clock'
import { quote } from '../util/quote'
import type { Union } from './member'
import { describeStates, stateOf } from './member-states'
import { releaseAll } from './release-all'
import type { Part } from './try-member'

/** An acquisition of a multi lock or a RedLock, as an object. */
export interface MultiLockHold extends LockHold {
  /** The name of the lock in messages. */
  readonly lockName: string
  /** The owners of the members, as their servers have them, separated by spaces. */
  readonly owner: string
  /** An id of this acquisition in this process. No server knows it: each member has a `threadId` of its own. */
  readonly threadId: number
  /** The holds of the members, in the order in which they were acquired. A RedLock may acquire further ones later. */
  readonly holds: readonly LockHold[]
}

/** How long an acquisition with a lease is valid. The members have their own deadlines as well. */
export interface Validity {
  readonly since: Moment
  readonly ms: number
}

/** Several holds as one. It is lost as soon as fewer members are held than needed. */
export class UnionHold implements MultiLockHold {
  readonly threadId = newThreadId()
  /** The logical thread that acquired it, which may have ended. */
  thread: LogicalThread | undefined
  private readonly parts: Part[]
  private readonly gone = new Set<Part>()
  private readonly stopWatching: (() => void)[] = []
  private unlocked = false
  private loss: LockLostError | undefined
  private controller: AbortController | undefined
  private abort: ((reason: unknown) => void) | undefined
  private timer: Timer | undefined

  constructor(
    private readonly union: Union,
    parts: readonly Part[],
    private readonly validity?: Validity,
    /** Called before the release: no further member may join. */
    private readonly onUnlock?: () => void,
  ) {
    this.parts = [...parts]
  }

  get lockName(): string {
    return this.union.name
  }

  get holds(): readonly LockHold[] {
    return this.parts.map(({ hold }) => hold)
  }

  /** The owners of the members, in the order in which they were acquired. */
  get owner(): string {
    return this.parts.map(({ hold }) => hold.owner).join(' ')
  }

  get isHeld(): boolean {
    return !this.unlocked && this.checkHeld()
  }

  get signal(): AbortSignal {
    const isHeld = this.checkHeld()
    if (!this.controller) {
      const controller = new AbortController()
      this.controller = controller
      if (!isHeld) controller.abort(this.loss)
      else if (!this.unlocked) this.watchAll(inThisContext((reason) => controller.abort(reason)))
    }
    return this.controller.signal
  }

  /** Adds a member that was acquired later. Answers false if the hold has ended. */
  join(part: Part): boolean {
    if (!this.isHeld) return false
    this.parts.push(part)
    if (this.abort) this.watch(part)
    return true
  }

  unlock(options?: ReleaseOptions): Promise<void> {
    let signal: AbortSignal | undefined
    try {
      signal = releaseOptions(options).signal
    } catch (error) {
      return Promise.reject(error)
    }
    if (this.unlocked) return Promise.reject(this.unlockedAlready())
    const wasHeld = this.checkHeld()
    this.unlocked = true
    this.onUnlock?.()
    this.stop()
    return unlessAborted(
      releaseAll(this.union, this.parts, wasHeld, (members) => this.lossError(members)),
      signal,
    )
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.unlocked) await this.unlock()
  }

  /** From now on the thread finds the holds of the members as its own. */
  adoptBy(thread: LogicalThread): void {
    for (const { hold } of this.parts)
      if (hold instanceof AcquiredLockHold || hold instanceof UnionHold) hold.adoptBy(thread)
  }

  /** Whether enough members are held, as far as the client knows without asking the servers. */
  checkHeld(): boolean {
    if (this.loss) return false
    const { validity, union, parts } = this
    const valid = parts.filter(({ hold }) => hold.isHeld).length
    const isPast = validity !== undefined && union.clock.elapsedSince(validity.since) >= validity.ms
    if (this.unlocked || (valid >= union.needed && !isPast)) return true
    this.lose()
    return false
  }

  // A log must not show the clients inside.
  [inspect.custom](): string {
    return `MultiLockHold(${quote(this.lockName)})`
  }

  toJSON(): object {
    return { lockName: this.lockName, holds: this.holds.map(({ lockName }) => ({ lockName })) }
  }

  private watchAll(abort: (reason: unknown) => void) {
    this.abort = abort
    for (const part of this.parts) this.watch(part)
    const { validity, union } = this
    if (!validity || this.loss) return
    this.timer = union.clock.after(validity.ms - union.clock.elapsedSince(validity.since), () =>
      this.checkHeld(),
    )
  }

  private watch(part: Part) {
    const { signal } = part.hold
    if (signal.aborted) this.memberGone(part, signal.reason)
    else this.stopWatching.push(onAbort(signal, () => this.memberGone(part, signal.reason)))
  }

  private memberGone(part: Part, reason: unknown) {
    this.gone.add(part)
    if (this.parts.length - this.gone.size >= this.union.needed) return
    if (reason instanceof RedissonShutdownError) this.abort?.(reason)
    else this.lose()
  }

  private lose() {
    if (this.loss || this.unlocked) return
    this.loss = this.lossError(
      this.parts.map(({ member, hold }) =>
        hold.isHeld ? stateOf(member, 'held') : stateOf(member, 'lost', reasonOf(hold)),
      ),
    )
    this.stop()
    this.abort?.(this.loss)
  }

  private stop() {
    this.timer?.cancel()
    for (const stop of this.stopWatching.splice(0)) stop()
  }

  private lossError(members: readonly LockMember[]): LockLostError {
    const { name, clientId, needed } = this.union
    const error = new LockLostError(
      `The lock ${quote(name)} was lost (client ${clientId}): ${describeStates(members)}; ${needed} must be held. Other ` +
        'clients may hold the lost members: stop working under the lock, and acquire it again where needed.',
      name,
      this.threadId,
    )
    error.members = members
    return error
  }

  private unlockedAlready(): IllegalMonitorStateError {
    const { name, clientId } = this.union
    return new IllegalMonitorStateError(
      `This hold on the lock ${quote(name)} was released already (client ${clientId}). Release a hold once.`,
    )
  }
}

function reasonOf({ signal }: LockHold): unknown {
  return signal.aborted ? signal.reason : undefined
}
