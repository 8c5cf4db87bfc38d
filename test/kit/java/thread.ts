import type { JvmProcess } from './jvm'
import type { Answer, Fields, LockChoice, LockOptions, Timing, TryLockOptions } from './protocol'

/** One Java thread of a peer. Its calls run one after the other, in the order they were made. */
export class JavaThread {
  readonly #jvm: JvmProcess
  readonly #clientId: string

  constructor(
    jvm: JvmProcess,
    clientId: string,
    readonly name: string,
  ) {
    this.#jvm = jvm
    this.#clientId = clientId
  }

  lock(lock: string, options: LockOptions = {}): Promise<Timing> {
    return this.ask('lock', { lock, ...options })
  }

  tryLock(lock: string, options: TryLockOptions = {}): Promise<boolean> {
    return this.#value('tryLock', lock, options)
  }

  unlock(lock: string, options: LockChoice = {}): Promise<Timing> {
    return this.ask('unlock', { lock, ...options })
  }

  forceUnlock(lock: string, options: LockChoice = {}): Promise<boolean> {
    return this.#value('forceUnlock', lock, options)
  }

  isLocked(lock: string, options: LockChoice = {}): Promise<boolean> {
    return this.#value('isLocked', lock, options)
  }

  isHeldByCurrentThread(lock: string, options: LockChoice = {}): Promise<boolean> {
    return this.#value('isHeldByCurrentThread', lock, options)
  }

  getHoldCount(lock: string, options: LockChoice = {}): Promise<number> {
    return this.#value('getHoldCount', lock, options)
  }

  remainTimeToLive(lock: string, options: LockChoice = {}): Promise<number> {
    return this.#value('remainTimeToLive', lock, options)
  }

  getName(lock: string, options: LockChoice = {}): Promise<string> {
    return this.#value('getName', lock, options)
  }

  /** Of a fenced lock: the newest token of any owner. */
  getToken(lock: string): Promise<number> {
    return this.#value('getToken', lock, { type: 'fenced' })
  }

  lockAndGetToken(lock: string, options: Omit<LockOptions, 'type'> = {}): Promise<number> {
    return this.#value('lockAndGetToken', lock, { ...options, type: 'fenced' })
  }

  /** Undefined where it was not acquired. */
  async tryLockAndGetToken(
    lock: string,
    options: Omit<TryLockOptions, 'type'> = {},
  ): Promise<number | undefined> {
    const token: number | null = await this.#value('tryLockAndGetToken', lock, { ...options, type: 'fenced' })
    return token ?? undefined
  }

  /** The id that Redisson writes into Redis for this thread. */
  async threadId(): Promise<number> {
    return (await this.ask<number>('threadId', {})).value
  }

  /** The field that a hold of this thread has in Redis (a write hold's has a suffix). */
  async owner(): Promise<string> {
    return `${this.#clientId}:${await this.threadId()}`
  }

  /** As the reactive and coroutine users of Redisson do, with any 64-bit thread id; a text, because most are beyond 2^53. */
  lockAs(lock: string, threadId: string, options: LockOptions = {}): Promise<Timing> {
    return this.ask('lockAsync', { lock, threadId, ...options })
  }

  unlockAs(lock: string, threadId: string, options: LockChoice = {}): Promise<Timing> {
    return this.ask('unlockAsync', { lock, threadId, ...options })
  }

  /** Any operation of the peer, with its timing. */
  ask<T>(op: string, fields: Fields): Promise<Answer<T>> {
    return this.#jvm.ask<T>(op, { ...fields, thread: this.name })
  }

  async #value<T>(op: string, lock: string, fields: object): Promise<T> {
    return (await this.ask<T>(op, { lock, ...fields })).value
  }
}
