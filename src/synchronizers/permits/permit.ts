import { inspect } from 'node:util'
import { quote } from '../../util/quote'
import type { PermitLease } from './permit-lease'

/** One permit of a semaphore. Its caller holds it until it releases or loses it. Works with `await using`. */
export interface Permit {
  /** 32 hexadecimal digits. Java can release the permit by them, too. */
  readonly id: string
  /** The semaphore's name. */
  readonly semaphoreName: string
  /**
   * Aborts as soon as the client knows that the permit is lost, and before another caller can have it. The
   * reason is a PermitNotHeldError. When the client is shut down, the reason is a RedissonShutdownError.
   *
   * Another process may release the permit, or shorten its lease, by its id. This client notices that at the
   * next renewal. It does not renew a permit with a `leaseTime`, which counts as held until that is over.
   */
  readonly signal: AbortSignal
  /** Whether the permit is held, as far as the client knows without asking the server. */
  readonly isHeld: boolean
  /**
   * Releases the permit.
   * @throws {@link PermitNotHeldError} when it was lost or released before.
   * @throws {@link RedisUnavailableError} when the server could not be reached. Then the client retries the
   * release in the background until the lease has surely ended.
   * @throws {@link RedisRefusedError} when the server refused it. The client retries that for a minute.
   */
  release(): Promise<void>
  /** `release()`, unless it has been called already. */
  [Symbol.asyncDispose](): Promise<void>
}

/** See the interface. */
export class AcquiredPermit implements Permit {
  constructor(readonly lease: PermitLease) {}

  get id(): string {
    return this.lease.id
  }

  get semaphoreName(): string {
    return this.lease.leased.name
  }

  get signal(): AbortSignal {
    this.lease.checkLive()
    return this.lease.signal
  }

  get isHeld(): boolean {
    return this.lease.checkLive()
  }

  async release(): Promise<void> {
    await this.lease.release()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.lease.isReleased) await this.release()
  }

  // A log must not show the client inside, which has credentials.
  [inspect.custom](): string {
    return `Permit(${quote(this.semaphoreName)}, ${this.id})`
  }

  toJSON(): object {
    return { semaphoreName: this.semaphoreName, id: this.id }
  }
}
