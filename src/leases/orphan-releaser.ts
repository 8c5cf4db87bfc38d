import type { AnyScriptCall } from '../scripts/script-call'
import { outsideRequests } from '../util/async-context'
import type { Clock, Moment } from '../util/clock'
import { margin } from './lease-book'

const RETRY_AFTER = 500
/** How long a release that the server refuses is retried, in ms. */
const RETRIED_WHILE_REFUSED = 60_000

const NOT_REPLICATED = new Error('no replica has acknowledged it')

/** A grant that the server may still keep for this client, although no caller waits for it any more. */
export interface Orphan {
  /** How long the server may keep it, in ms. */
  readonly lease: number
  /** Releases it once. Rejects where the server could not be reached. */
  release(): Promise<void>
}

/**
 * Whether the server surely keeps it no longer, where its lease was last set at `since`. By the clock that
 * advanced less: one that was set forward must end nothing early.
 */
export function isSurelyOver({ lease }: Orphan, since: Moment, clock: Clock): boolean {
  const { monotonic, wall } = clock.now()
  return Math.min(monotonic - since.monotonic, wall - since.wall) >= lease + margin(lease)
}

/**
 * Releases orphans in the background. An orphan is an acquisition that was cancelled while its command was in
 * flight, or a hold whose last `unlock()` could not reach the server. Each release is retried until the
 * server has answered it, until it has refused it for a minute, or until the lease has surely ended.
 */
export class OrphanReleaser {
  private readonly inProgress = new Set<Promise<void>>()

  constructor(private readonly clock: Clock) {}

  /** @internal How many orphans are being released. */
  get size(): number {
    return this.inProgress.size
  }

  /** Resolves when nothing is being released. */
  async settled(): Promise<void> {
    while (this.inProgress.size > 0) await Promise.all(this.inProgress)
  }

  /**
   * The caller cancelled the acquisition: waits for the answer to its try, if one is in flight, and releases
   * what its tries may have been granted. If the connection broke and its server stays away, it waits until
   * the server is back or the client is shut down, without any other limit. A server that was stopped may
   * execute the command when it goes on, however late.
   */
  afterTry(
    orphan: Orphan,
    inFlight: AnyScriptCall | undefined,
    isGranted = ({ granted }: { readonly granted: boolean }) => granted,
  ): Promise<void> {
    if (!inFlight) return this.releaseNow(orphan, this.clock.now())
    return this.inBackground(
      new Promise<void>((resolve) => {
        inFlight.onFinished((reply) => {
          const acquiredNothing = reply !== undefined && !isGranted(reply.value) && !reply.hasLostCopy
          if (acquiredNothing) return resolve()
          resolve(this.release(orphan, this.clock.now()))
        })
      }),
    )
  }

  /**
   * Releases an orphan whose lease was last set at `since`. Resolves when it is released, or the client has
   * given up.
   */
  releaseNow(orphan: Orphan, since: Moment): Promise<void> {
    return this.inBackground(this.release(orphan, since))
  }

  /**
   * No replica acknowledged a command, so a failover may lose it. Sends it again in the background until a
   * replica has it, for so many ms. It must have the effect of one, however often it is sent.
   */
  untilReplicated(send: () => Promise<{ readonly acknowledged: boolean }>, lease: number): Promise<void> {
    const release = async () => {
      if (!(await send()).acknowledged) throw NOT_REPLICATED
    }
    return this.releaseNow({ lease, release }, this.clock.now())
  }

  private inBackground(work: Promise<void>): Promise<void> {
    this.inProgress.add(work)
    return work.finally(() => this.inProgress.delete(work))
  }

  private release(orphan: Orphan, since: Moment): Promise<void> {
    return outsideRequests(async () => {
      let refusedSince: Moment | undefined
      while (!isSurelyOver(orphan, since, this.clock)) {
        try {
          return await orphan.release()
        } catch (error) {
          const { code } = error as { code?: string }
          if (code === 'REDISSON_SHUTDOWN' || code === 'WRONG_TYPE') return
          if (code !== 'REDIS_REFUSED') refusedSince = undefined
          else refusedSince ??= this.clock.now()
          if (refusedSince && this.clock.elapsedSince(refusedSince) >= RETRIED_WHILE_REFUSED) return
          await new Promise<void>((resolve) => this.clock.after(RETRY_AFTER, resolve))
        }
      }
    })
  }
}
