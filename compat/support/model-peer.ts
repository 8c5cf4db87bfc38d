import { randomUUID } from 'node:crypto'
import { JavaClient } from '../../tools/simulator/java-model/client'
import { IoredisPort } from '../../tools/simulator/java-model/ioredis-port'
import type { JavaLock } from '../../tools/simulator/java-model/locks'
import type { LeaseOptions, LockPeer, LockThread, ObjectChoice, WaitOptions } from './lock-peer'

/** The simulator's model of a Java client on a real server, with the surface of the peer. */
export class ModelPeer implements LockPeer {
  readonly clientId = randomUUID()
  readonly port: IoredisPort
  readonly client: JavaClient
  private readonly threads = new Map<string, ModelThread>()

  constructor(url: string) {
    this.port = new IoredisPort(url)
    this.client = new JavaClient(this.port, { clientId: this.clientId })
  }

  thread(name: string): ModelThread {
    let thread = this.threads.get(name)
    if (!thread) {
      thread = new ModelThread(this.client, this.threads.size + 1)
      this.threads.set(name, thread)
    }
    return thread
  }

  close(): void {
    this.port.close()
  }
}

class ModelThread implements LockThread {
  private readonly locks = new Map<string, JavaLock>()
  private before: Promise<unknown> = Promise.resolve()

  constructor(
    private readonly client: JavaClient,
    readonly threadId: number,
  ) {}

  lock(name: string, { leaseTime, ...choice }: LeaseOptions = {}): Promise<void> {
    return this.do(name, choice, (lock) => lock.lock(this.threadId, leaseTime))
  }

  tryLock(name: string, { waitTime, leaseTime, ...choice }: WaitOptions = {}): Promise<boolean> {
    const wait = leaseTime === undefined ? waitTime : (waitTime ?? 0)
    return this.do(name, choice, (lock) => lock.tryLock(this.threadId, wait, leaseTime))
  }

  unlock(name: string, choice: ObjectChoice = {}): Promise<void> {
    return this.do(name, choice, (lock) => lock.unlock(this.threadId))
  }

  forceUnlock(name: string, choice: ObjectChoice = {}): Promise<boolean> {
    return this.do(name, choice, (lock) => lock.forceUnlock())
  }

  isLocked(name: string, choice: ObjectChoice = {}): Promise<boolean> {
    return this.do(name, choice, (lock) => lock.isLocked())
  }

  isHeldByCurrentThread(name: string, choice: ObjectChoice = {}): Promise<boolean> {
    return this.do(name, choice, async (lock) => (await lock.getHoldCount(this.threadId)) > 0)
  }

  getHoldCount(name: string, choice: ObjectChoice = {}): Promise<number> {
    return this.do(name, choice, (lock) => lock.getHoldCount(this.threadId))
  }

  remainTimeToLive(name: string, choice: ObjectChoice = {}): Promise<number> {
    return this.do(name, choice, (lock) => lock.remainTimeToLive())
  }

  getName(name: string): Promise<string> {
    return Promise.resolve(name)
  }

  /** The calls of a thread run one after the other. */
  private do<T>(
    name: string,
    { type = 'lock' }: ObjectChoice,
    call: (lock: JavaLock) => Promise<T>,
  ): Promise<T> {
    if (type === 'non-reentrant-fair') throw new Error(`the model knows no ${type} lock`)
    const key = `${type} ${name}`
    const lock = this.locks.get(key) ?? this.client.lock(type, name)
    this.locks.set(key, lock)
    const answer = this.before.then(() => call(lock))
    this.before = answer.catch(() => {})
    return answer
  }
}
