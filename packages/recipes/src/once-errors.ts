import { RedissonError } from 'rlock'

/** A call with the same key is running, in this process or in another one, and did not end within `waitTime`. */
export class InFlightError extends RedissonError {
  override readonly name = 'InFlightError'
  override readonly code = 'IN_FLIGHT'

  constructor(
    message: string,
    /** The key of `once()`. */
    readonly key: string,
  ) {
    super(message)
  }
}

/** The key was used before with another fingerprint: another request has the same key. */
export class KeyReusedError extends RedissonError {
  override readonly name = 'KeyReusedError'
  override readonly code = 'KEY_REUSED'

  constructor(
    message: string,
    /** The key of `once()`. */
    readonly key: string,
  ) {
    super(message)
  }
}
