import { type JavaContext, prefixed } from './context'
import { type Entry, lockMessage } from './entries'
import {
  ACQUIRE,
  FAIR_ACQUIRE,
  FAIR_FORCE_RELEASE,
  FAIR_LEAVE,
  FAIR_RELEASE,
  FAIR_TRY,
  FENCED_ACQUIRE,
  FORCE_RELEASE,
  RELEASE,
  RENEW,
  STATE,
} from './scripts'

/** Java's IllegalMonitorStateException. */
export class NotHeldByThread extends Error {
  readonly code = 'ILLEGAL_MONITOR_STATE'
}

interface Wait {
  /** In ms; undefined: for ever. */
  readonly wait: number | undefined
  readonly lease: number | undefined
}

/** After so many turns without a sleep a thread waits for its next turn, longer each time, in ms. */
const MOST_SPINS = 20
const TURN_OF_OTHERS = 10
const LONGEST_TURN = 1_000

/** What all locks of a Java client do alike: try, listen, try again, sleep for the TTL that it read. */
export abstract class JavaLock {
  /** Java keeps the last lease on the object, and uses it for whatever comes after. */
  protected lease: number

  constructor(
    protected readonly context: JavaContext,
    readonly name: string,
  ) {
    this.lease = context.lockWatchdogTimeout
  }

  async lock(threadId: number, lease?: number): Promise<void> {
    await this.acquire(threadId, { wait: undefined, lease })
  }

  async tryLock(threadId: number, wait?: number, lease?: number): Promise<boolean> {
    if (wait === undefined)
      return (await this.attempt(threadId, lease, () => this.tryOnce(threadId))) === undefined
    return await this.acquire(threadId, { wait, lease })
  }

  async unlock(threadId: number): Promise<void> {
    // Java renews no more, also where the release failed.
    const ends = () => this.context.watchdog.remove(this.renewedKey, threadId)
    const answer = await this.release(threadId).catch((error) => {
      ends()
      throw error
    })
    if (answer === 0) return
    ends()
    if (answer === null || answer === undefined)
      throw new NotHeldByThread(`${this.name} is not held by ${this.ownerOf(threadId)}`)
  }

  async forceUnlock(): Promise<boolean> {
    return Number(await this.forceRelease()) === 1
  }

  async isLocked(): Promise<boolean> {
    return (await this.state()).fields.size > 0
  }

  async getHoldCount(threadId: number): Promise<number> {
    return Number((await this.state()).fields.get(this.ownerOf(threadId)) ?? 0)
  }

  async remainTimeToLive(): Promise<number> {
    return (await this.state()).ttl
  }

  /** The field of the hash. */
  ownerOf(threadId: number): string {
    return `${this.context.clientId}:${threadId}`
  }

  /** Answers nil, or how long to sleep. */
  protected abstract tryAcquire(threadId: number, wait: number | undefined): Promise<unknown>
  protected abstract release(threadId: number): Promise<unknown>
  protected abstract forceRelease(): Promise<unknown>
  protected abstract renew(threadId: number): Promise<unknown>
  protected abstract channelFor(threadId: number): string

  protected tryOnce(threadId: number): Promise<unknown> {
    return this.tryAcquire(threadId, undefined)
  }

  /** The wait of a call is over. */
  protected async gaveUp(_threadId: number, _wait: number): Promise<void> {}

  protected get renewedKey(): string {
    return this.name
  }

  protected run(
    script: string,
    keys: readonly string[],
    args: readonly (string | number)[] = [],
  ): Promise<unknown> {
    return this.context.port.run(script, keys, args)
  }

  protected async state(): Promise<{ fields: Map<string, string>; ttl: number }> {
    const [flat, ttl] = (await this.run(STATE, [this.name])) as [string[], number]
    const fields = new Map<string, string>()
    for (let i = 0; i + 1 < flat.length; i += 2) fields.set(flat[i]!, flat[i + 1]!)
    return { fields, ttl: Number(ttl) }
  }

  private async acquire(threadId: number, { wait, lease }: Wait): Promise<boolean> {
    const { port, entries } = this.context
    const end = wait === undefined ? undefined : port.now() + wait
    const left = () => (end === undefined ? undefined : end - port.now())
    const isOver = () => end !== undefined && port.now() >= end
    const tries = () => this.attempt(threadId, lease, () => this.tryAcquire(threadId, wait))
    const giveUp = async () => {
      await this.gaveUp(threadId, wait ?? 0)
      return false
    }
    if ((await tries()) === undefined) return true
    if (isOver()) return await giveUp()
    return await entries.listening(this.channelFor(threadId), lockMessage, async (entry: Entry) => {
      for (let spins = 0; ; ) {
        if (isOver()) return await giveUp()
        const ttl = await tries()
        if (ttl === undefined) return true
        const most = left()
        if (most !== undefined && most <= 0) return await giveUp()
        const sleep = ttl < 0 ? most : Math.min(ttl, most ?? ttl)
        // Java spins here, for minutes behind a dead head of a fair queue. In virtual time something has to pass, and an operating
        // system gives others their turn.
        spins = sleep !== undefined && sleep < 1 ? spins + 1 : 0
        const least = Math.max(1, Math.min(TURN_OF_OTHERS * (spins - MOST_SPINS), LONGEST_TURN))
        await entries.sleep(entry, sleep === undefined ? undefined : Math.max(least, sleep))
      }
    })
  }

  /** One try: undefined, or the TTL that was answered. */
  private async attempt(
    threadId: number,
    lease: number | undefined,
    attempt: () => Promise<unknown>,
  ): Promise<number | undefined> {
    if (lease !== undefined) this.lease = lease
    const answer = await attempt()
    if (answer !== null && answer !== undefined) return Number(answer)
    if (lease === undefined) this.context.watchdog.add(this.renewedKey, threadId, () => this.renew(threadId))
    return undefined
  }
}

export class PlainLock extends JavaLock {
  protected tryAcquire(threadId: number): Promise<unknown> {
    return this.run(ACQUIRE, [this.name], [this.lease, this.ownerOf(threadId)])
  }

  protected release(threadId: number): Promise<unknown> {
    return this.run(RELEASE, [this.name, this.channelFor()], [this.lease, this.ownerOf(threadId)])
  }

  protected forceRelease(): Promise<unknown> {
    return this.run(FORCE_RELEASE, [this.name, this.channelFor()])
  }

  protected renew(threadId: number): Promise<unknown> {
    return this.run(RENEW, [this.name], [this.context.lockWatchdogTimeout, this.ownerOf(threadId)])
  }

  protected channelFor(): string {
    return prefixed('redisson_lock__channel', this.name)
  }
}

export class FencedLock extends PlainLock {
  /** The token of the last acquisition through this object. */
  token = -1

  protected override async tryAcquire(threadId: number): Promise<unknown> {
    const keys = [this.name, prefixed('redisson_lock_token', this.name)]
    const answer = await this.run(FENCED_ACQUIRE, keys, [this.lease, this.ownerOf(threadId)])
    const [ttl, token] = answer as [number, number]
    if (Number(ttl) >= 0) return ttl
    this.token = Number(token)
    return null
  }
}

/** Every waiter has a place in the queue and a channel of its own. */
export class FairLock extends JavaLock {
  private get keys(): string[] {
    const { name } = this
    return [name, prefixed('redisson_lock_queue', name), prefixed('redisson_lock_timeout', name)]
  }

  private get channel(): string {
    return prefixed('redisson_lock__channel', this.name)
  }

  private waitOr(wait: number | undefined): number {
    return wait !== undefined && wait > 0 ? wait : this.context.fairLockWaitTimeout
  }

  protected tryAcquire(threadId: number, wait: number | undefined): Promise<unknown> {
    const now = this.context.port.now()
    return this.run(FAIR_ACQUIRE, this.keys, [this.lease, this.ownerOf(threadId), now, this.waitOr(wait)])
  }

  protected override tryOnce(threadId: number): Promise<unknown> {
    const now = this.context.port.now()
    return this.run(FAIR_TRY, this.keys, [this.lease, this.ownerOf(threadId), now, this.waitOr(undefined)])
  }

  protected override async gaveUp(threadId: number, wait: number): Promise<void> {
    await this.run(FAIR_LEAVE, this.keys.slice(1), [this.ownerOf(threadId), this.waitOr(wait)])
  }

  protected release(threadId: number): Promise<unknown> {
    const now = this.context.port.now()
    return this.run(FAIR_RELEASE, this.keys, [this.lease, this.ownerOf(threadId), now, this.channel])
  }

  protected forceRelease(): Promise<unknown> {
    return this.run(FAIR_FORCE_RELEASE, this.keys, [this.context.port.now(), this.channel])
  }

  protected renew(threadId: number): Promise<unknown> {
    return this.run(RENEW, [this.name], [this.context.lockWatchdogTimeout, this.ownerOf(threadId)])
  }

  protected channelFor(threadId: number): string {
    return `${this.channel}:${this.ownerOf(threadId)}`
  }
}
