import { type ContentionReport, type JavaPeer, startJavaPeer } from '../../../kit/java'
import { STREAM } from '../evidence/records'
import type { LockKind, LockPlan } from '../plan/objects'
import type { Network } from './network'

export interface JavaSetup {
  readonly worker: string
  readonly lockWatchdogTimeout: number
  readonly evidenceUrl: string
  readonly locks: readonly LockPlan[]
}

const WRITE = ['write'] as const
const READ_AND_WRITE = ['read', ...WRITE] as const
/** A place of a Java caller in the queue of a fair lock outlives it by minutes; and a token lock is none of Redisson's. */
const TYPES: Partial<Record<LockKind, 'lock' | 'fenced' | 'spin'>> = {
  lock: 'lock',
  nonReentrant: 'lock',
  fenced: 'fenced',
  spin: 'spin',
}
const typesOf = (kind: LockKind) => [TYPES[kind] ?? []].flat()
const AS_LONG_AS_IT_TAKES = 24 * 3_600_000

/** A process with a real Redisson, its threads taking the same locks. */
export class JavaWorker {
  #running: Promise<ContentionReport[]> = Promise.resolve([])

  private constructor(
    private readonly setup: JavaSetup,
    readonly network: Network,
    private readonly peer: JavaPeer,
  ) {}

  static async start(setup: JavaSetup, network: Network): Promise<JavaWorker> {
    const peer = await startJavaPeer({
      redis: network.route.java,
      // Redisson's defaults would have it wait for three seconds for each answer that a fault took away.
      settings: { lockWatchdogTimeout: setup.lockWatchdogTimeout, timeout: 1_000, retryInterval: 300 },
      name: setup.worker,
    })
    return new JavaWorker(setup, network, peer)
  }

  get clientId(): string {
    return this.peer.clientId
  }

  get name(): string {
    return this.setup.worker
  }

  begin(): void {
    this.#running = Promise.all(this.setup.locks.flatMap((lock) => this.#contend(lock)))
    // Killed in the middle, as a rule; what matters is in the evidence.
    this.#running.catch(() => {})
  }

  /** Every thread ends after its turn; false when some never came to an end. */
  async finish(withinMs: number): Promise<boolean> {
    // Where it was killed meanwhile, its threads have come to an end as well.
    await this.peer.stopContending().catch(() => {})
    const late = new Promise<boolean>((resolve) => setTimeout(resolve, withinMs, false).unref())
    return await Promise.race([
      this.#running.then(
        () => true,
        () => true,
      ),
      late,
    ])
  }

  kill(): Promise<void> {
    return this.peer.kill()
  }

  pause(): void {
    this.peer.pause()
  }

  resume(): void {
    this.peer.resume()
  }

  #contend({ name, kind, lease, slow, hot, pause, readers }: LockPlan): Promise<ContentionReport>[] {
    const { lockWatchdogTimeout } = this.setup
    const sides = kind === 'readWrite' ? (readers > 0 ? READ_AND_WRITE : WRITE) : typesOf(kind)
    return sides.map((type) =>
      this.peer.contend(name, {
        type,
        threads: 1,
        durationMs: AS_LONG_AS_IT_TAKES,
        leaseTime: lease,
        holdMs: slow ? [lockWatchdogTimeout / 10, lockWatchdogTimeout * 1.5] : hot ? [3, 7] : [0, 4],
        longHoldMs: [lockWatchdogTimeout * 1.3, lockWatchdogTimeout * 1.4],
        longHoldEvery: lease === undefined && !slow ? 3_000 : undefined,
        pauseMs: hot ? undefined : [0, pause ?? (slow ? lockWatchdogTimeout : type === 'read' ? 100 : 20)],
        evidence: { url: this.setup.evidenceUrl, stream: STREAM, worker: this.name, lock: name },
      }),
    )
  }
}
