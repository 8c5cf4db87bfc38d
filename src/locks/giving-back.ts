import { margin } from '../ownership/hold'
import { outsideThreads } from '../ownership/logical-thread'
import type { Clock, Moment } from '../runtime/clock'
import type { ScriptCall } from '../scripts/script-runner'
import type { WaitingRoom } from '../waiting/waiting-room'
import { clientsTold, type LockProtocol, NOT_HELD } from './lock-protocol'

const RETRY_AFTER = 500
const LATE_COPY_AFTER = [1_000, 5_000, 15_000]

/**
 * Gives back in the background what nobody is waiting for any more: an acquisition given up while its
 * command was under way, and a hold whose last `unlock()` could not reach the server. Each is released
 * until the server has answered, or its lease has surely ended.
 */
export class GivingBack {
  private readonly underWay = new Set<Promise<void>>()

  constructor(
    private readonly clock: Clock,
    private readonly waiting: () => WaitingRoom,
  ) {}

  /** Resolves when nothing is being given back. */
  async settled(): Promise<void> {
    while (this.underWay.size > 0) await Promise.all(this.underWay)
  }

  /** The attempt is nobody's any more: releases what it may acquire once it has been answered. */
  attempt(protocol: LockProtocol, owner: string, lease: number, call: ScriptCall): void {
    this.track(
      new Promise((resolve) => {
        call.onFinished((reply) => {
          const acquiredNothing = reply !== undefined && reply.value !== null && !reply.connectionBroke
          if (acquiredNothing) resolve()
          else {
            if (reply?.connectionBroke !== false) this.lateCopy(protocol, owner, lease)
            resolve(this.release(protocol, owner, lease, this.clock.now()))
          }
        })
      }),
    )
  }

  /** Releases whatever this owner may still hold, though its lease was last set at `since`. */
  hold(protocol: LockProtocol, owner: string, lease: number, since: Moment): void {
    this.track(this.release(protocol, owner, lease, since))
  }

  /**
   * The connection broke under an acquisition, so a copy of it may still arrive after its hold has ended and
   * take the lock for nobody. How late, nobody knows; looked for a few times while that would still matter.
   */
  lateCopy(protocol: LockProtocol, owner: string, lease: number): void {
    outsideThreads(() => {
      for (const delay of LATE_COPY_AFTER)
        if (delay < lease)
          this.clock.after(delay, () => void this.release(protocol, owner, lease, this.clock.now()))
    })
  }

  /** By whichever clock advanced less: one that was set forward must not make us leave a lock to its lease. */
  private surelyElapsed(since: Moment): number {
    const { monotonic, wall } = this.clock.now()
    return Math.min(monotonic - since.monotonic, wall - since.wall)
  }

  private track(work: Promise<void>) {
    this.underWay.add(work)
    work.finally(() => this.underWay.delete(work))
  }

  private async release(protocol: LockProtocol, owner: string, lease: number, since: Moment): Promise<void> {
    return await outsideThreads(async () => {
      while (this.surelyElapsed(since) < lease + margin(lease)) {
        try {
          const { value } = await protocol.release(owner, 0, 0, 0).answer
          if (value !== NOT_HELD) this.waiting().freed(protocol, clientsTold(value))
          return
        } catch (error) {
          if ((error as { code?: string }).code === 'REDISSON_SHUTDOWN') return
          if ((error as { code?: string }).code === 'WRONG_TYPE') return
          await new Promise<void>((resolve) => this.clock.after(RETRY_AFTER, resolve))
        }
      }
    })
  }
}
