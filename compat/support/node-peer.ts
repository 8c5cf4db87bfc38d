import type { RLock } from '../../src/index'
import { Redisson, type RedissonOptions } from '../../src/index'
import type { LeaseOptions, LockPeer, LockThread, ObjectChoice, WaitOptions } from './lock-peer'

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

  lock(name: string, { leaseTime, ...choice }: LeaseOptions = {}): Promise<void> {
    return this.do(name, choice, (lock) => (leaseTime === undefined ? lock.lock() : lock.lock(leaseTime)))
  }

  tryLock(name: string, { waitTime, leaseTime, ...choice }: WaitOptions = {}): Promise<boolean> {
    return this.do(name, choice, (lock) => {
      if (leaseTime !== undefined) return lock.tryLock(waitTime ?? 0, leaseTime)
      return waitTime === undefined ? lock.tryLock() : lock.tryLock(waitTime)
    })
  }

  unlock(name: string, choice: ObjectChoice = {}): Promise<void> {
    return this.do(name, choice, (lock) => lock.unlock())
  }

  forceUnlock(name: string, choice: ObjectChoice = {}): Promise<boolean> {
    return this.do(name, choice, (lock) => lock.forceUnlock())
  }

  isLocked(name: string, choice: ObjectChoice = {}): Promise<boolean> {
    return this.do(name, choice, (lock) => lock.isLocked())
  }

  isHeldByCurrentThread(name: string, choice: ObjectChoice = {}): Promise<boolean> {
    return this.do(name, choice, (lock) => lock.isHeldByCurrentThread())
  }

  getHoldCount(name: string, choice: ObjectChoice = {}): Promise<number> {
    return this.do(name, choice, (lock) => lock.getHoldCount())
  }

  remainTimeToLive(name: string, choice: ObjectChoice = {}): Promise<number> {
    return this.do(name, choice, (lock) => lock.remainTimeToLive())
  }

  getName(name: string, choice: ObjectChoice = {}): Promise<string> {
    return this.do(name, choice, async (lock) => lock.getName())
  }

  end(): void {
    this.ended = true
    this.wake?.()
  }

  private lockOf(name: string, { type = 'lock' }: ObjectChoice): RLock {
    if (type === 'lock') return this.redisson.getLock(name)
    if (type === 'fair') return this.redisson.getFairLock(name)
    if (type === 'non-reentrant-fair') return this.redisson.getNonReentrantFairLock(name)
    const both = this.redisson.getReadWriteLock(name)
    return type === 'read' ? both.readLock() : both.writeLock()
  }

  private do<T>(name: string, choice: ObjectChoice, call: (lock: RLock) => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.jobs.push(async () => {
        try {
          resolve(await call(this.lockOf(name, choice)))
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
