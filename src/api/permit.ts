/** One permit of a semaphore, held by its caller until it releases it or loses it. Works with `await using`. */
export interface Permit {
  /** 32 hexadecimal digits, by which Java can release it as well. */
  readonly id: string
  /** The semaphore's name. */
  readonly semaphoreName: string
  /**
   * Aborts, with a PermitNotHeldError as its reason, as soon as the permit is known to be lost, and before another
   * caller can have its place; with RedissonShutdownError when the client is shut down.
   */
  readonly signal: AbortSignal
  /** Whether it is held, by all that can be known without asking the server. */
  readonly isHeld: boolean
  /**
   * Releases it.
   * @throws {@link PermitNotHeldError} when it was lost or released before.
   * @throws {@link RedisUnavailableError} when the server could not be reached. It is released in the background then,
   * until its lease has surely ended.
   */
  release(): Promise<void>
  /** `release()`, unless it has been called already. */
  [Symbol.asyncDispose](): Promise<void>
}
