import { Redisson, type RLock } from '../../../src/index'
import { tapped } from '../tapped-transport'
import type { VirtualClock } from '../virtual-clock'
import type { Answer, Side } from './reference'

/** A client of the lock as the model sees it: callers by number, answers instead of exceptions. */
export interface ModelClient {
  readonly id: string
  tryLock(name: string, caller: number, side: Side, lease: number | undefined): Promise<Answer>
  unlock(name: string, caller: number, side: Side): Promise<Answer>
  force(name: string, side: Side): Promise<Answer>
  isLocked(name: string, side: Side): Promise<boolean>
  /** As precisely as this client can say it. */
  holds(name: string, caller: number, side: Side): Promise<number | boolean>
  /** The field of a hold, where a caller always has the same. */
  fieldOf?(caller: number, side: Side): string
  /** Resolves when nothing is under way. */
  quiet(): Promise<void>
  /** Ends the client without releasing anything. */
  kill(): Promise<void>
}

const ANSWERS: Record<string, Answer> = {
  LockLostError: 'LockLostError',
  IllegalMonitorStateError: 'IllegalMonitorStateError',
}

export async function answerOf(operation: Promise<boolean | void>): Promise<Answer> {
  try {
    return (await operation) ?? 'done'
  } catch (error) {
    const answer = ANSWERS[(error as Error).name]
    if (!answer) throw error
    return answer
  }
}

/** One of ours. Caller 0 is a logical thread, the others are thread ids. */
export class OurClient implements ModelClient {
  private underWay = 0
  private redisson!: Redisson
  private end: () => void = () => {}
  private inThread!: <T>(operation: () => Promise<T>) => Promise<T>

  static async open(url: string, watchdog: number, clock?: VirtualClock): Promise<OurClient> {
    const client = new OurClient()
    const transport = tapped((sent) => {
      client.underWay++
      const answer = sent.pass()
      const done = () => {
        client.underWay--
      }
      answer.then(done, done)
      return answer
    })
    client.redisson = await Redisson.createWith(
      // A client that is told of a forced release looks at once, before or after the next step: the model knows no such moment.
      { redis: url, lockWatchdogTimeout: watchdog, inspectable: false },
      { transport, ...(clock && { clock }) },
    )
    client.startThread()
    return client
  }

  get id(): string {
    return this.redisson.getId()
  }

  tryLock(name: string, caller: number, side: Side, leaseTime: number | undefined): Promise<Answer> {
    const lock = this.side(name, side)
    return answerOf(
      caller === 0
        ? this.inThread(() => lock.tryLock({ leaseTime }))
        : lock.tryLock({ leaseTime, threadId: caller }),
    )
  }

  unlock(name: string, caller: number, side: Side): Promise<Answer> {
    const lock = this.side(name, side)
    return answerOf(caller === 0 ? this.inThread(() => lock.unlock()) : lock.unlock({ threadId: caller }))
  }

  force(name: string, side: Side): Promise<Answer> {
    return answerOf(this.side(name, side).forceUnlock())
  }

  isLocked(name: string, side: Side): Promise<boolean> {
    return this.side(name, side).isLocked()
  }

  async holds(name: string, caller: number, side: Side): Promise<number | boolean> {
    const lock = this.side(name, side)
    if (caller !== 0) return await lock.isHeldByThread(caller)
    const [held, count] = await this.inThread(async () => [
      await lock.isHeldByCurrentThread(),
      await lock.getHoldCount(),
    ])
    return held === (count as number) > 0 ? (count as number) : Number.NaN
  }

  async quiet(): Promise<void> {
    do {
      await new Promise((resolve) => setImmediate(resolve))
    } while (this.underWay > 0)
    // What the last answer set off.
    await new Promise((resolve) => setImmediate(resolve))
  }

  async kill(): Promise<void> {
    await this.redisson.shutdown({ timeout: 0 })
    this.end()
  }

  private side(name: string, side: Side): RLock {
    const lock = this.redisson.getReadWriteLock(name)
    return side === 'read' ? lock.readLock() : lock.writeLock()
  }

  /** A logical thread that lasts, and does what it is handed. */
  private startThread() {
    let handed: (() => void)[] = []
    let wake = () => {}
    let ended = false
    this.end = () => {
      ended = true
      wake()
    }
    this.inThread = (operation) =>
      new Promise((resolve, reject) => {
        handed.push(() => operation().then(resolve, reject))
        wake()
      })
    void this.redisson.run(async () => {
      while (!ended) {
        const now = handed
        handed = []
        for (const each of now) each()
        if (handed.length > 0) continue
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    })
  }
}
