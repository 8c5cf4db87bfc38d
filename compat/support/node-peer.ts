import type { RLock } from '../../src/index'
import { Redisson, type RedissonOptions } from '../../src/index'
import type { LeaseOptions, LockPeer, LockThread, WaitOptions } from './lock-peer'

/** Our client in this process, with the surface of the Java peer, so that a test can swap the two. */
export class NodePeer implements LockPeer {
  private readonly threads = new Map<string, NodeThread>()

  private constructor(readonly redisson: Redisson) {}

  static async start(options: RedissonOptions): Promise<NodePeer> {
    return new NodePeer(await Redisson.create(options))
  }

  get clientId(): string {
    return this.redisson.getId()
  }

  thread(name: string): NodeThread {
    let thread = this.threads.get(name)
    if (!thread) {
      thread = new NodeThread(this.redisson)
      this.threads.set(name, thread)
    }
    return thread
  }

  async shutdown(): Promise<void> {
    await this.redisson.shutdown({ timeout: 0 })
    for (const thread of this.threads.values()) thread.end()
  }
}

/** A logical thread that lives on and does what it is handed, in order, as a Java thread of the peer does. */
export class NodeThread implements LockThread {
  private readonly jobs: (() => Promise<void>)[] = []
  private wake: (() => void) | undefined
  private ended = false

  constructor(private readonly redisson: Redisson) {
    void redisson.run(() => this.work())
  }

  lock(name: string, { leaseTime }: LeaseOptions = {}): Promise<void> {
    return this.do(name, (lock) => (leaseTime === undefined ? lock.lock() : lock.lock(leaseTime)))
  }

  tryLock(name: string, { waitTime, leaseTime }: WaitOptions = {}): Promise<boolean> {
    return this.do(name, (lock) => {
      if (leaseTime !== undefined) return lock.tryLock(waitTime ?? 0, leaseTime)
      return waitTime === undefined ? lock.tryLock() : lock.tryLock(waitTime)
    })
  }

  unlock(name: string): Promise<void> {
    return this.do(name, (lock) => lock.unlock())
  }

  forceUnlock(name: string): Promise<boolean> {
    return this.do(name, (lock) => lock.forceUnlock())
  }

  isLocked(name: string): Promise<boolean> {
    return this.do(name, (lock) => lock.isLocked())
  }

  isHeldByCurrentThread(name: string): Promise<boolean> {
    return this.do(name, (lock) => lock.isHeldByCurrentThread())
  }

  getHoldCount(name: string): Promise<number> {
    return this.do(name, (lock) => lock.getHoldCount())
  }

  remainTimeToLive(name: string): Promise<number> {
    return this.do(name, (lock) => lock.remainTimeToLive())
  }

  getName(name: string): Promise<string> {
    return this.do(name, async (lock) => lock.getName())
  }

  end(): void {
    this.ended = true
    this.wake?.()
  }

  private do<T>(name: string, call: (lock: RLock) => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.jobs.push(async () => {
        try {
          resolve(await call(this.redisson.getLock(name)))
        } catch (error) {
          reject(error)
        }
      })
      this.wake?.()
    })
  }

  // This loop is what runs within the scope: the callers of `do` stand outside, and lend it only a function.
  private async work(): Promise<void> {
    while (!this.ended) {
      const job = this.jobs.shift()
      if (job) await job()
      else
        await new Promise<void>((resolve) => {
          this.wake = resolve
        })
    }
  }
}
