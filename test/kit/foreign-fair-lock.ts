import type { Redis } from 'ioredis'
import { lockChannel } from '../../src/locks/hash-lock-kind'
import { prefixed } from '../../src/scripts/key-names'

/** The id of a client that is none of ours: of version 4, as those of Java are. */
const JAVA = '00000000-0000-4000-8000-000000000000'

/** A fair lock as a Java peer holds, frees and queues for it: the bare commands, so that a test decides which happen. */
export class ForeignFairLock {
  readonly queue: string
  readonly timeouts: string

  constructor(
    private readonly redis: Redis,
    readonly name: string,
  ) {
    this.queue = prefixed('redisson_lock_queue', name)
    this.timeouts = prefixed('redisson_lock_timeout', name)
  }

  /** An owner field of a Java client. */
  owner(threadId: number): string {
    return `${JAVA}:${threadId}`
  }

  channelOf(owner: string): string {
    return `${lockChannel(this.name)}:${owner}`
  }

  /** Without a lease the key has no expiry. */
  async take(lease?: number, threadId = 1): Promise<void> {
    await this.redis.hset(this.name, this.owner(threadId), 1)
    if (lease !== undefined) await this.redis.pexpire(this.name, lease)
  }

  /** Frees the lock and notifies the head of the queue. */
  async release(): Promise<void> {
    await this.redis.del(this.name)
    const head = await this.head()
    if (head) await this.redis.publish(this.channelOf(head), '0')
  }

  /** Frees the lock and notifies no waiter, as an expiry does. */
  async vanish(): Promise<void> {
    await this.redis.del(this.name)
  }

  /** Enters the queue: the place lapses `wait` ms after that of the one before. */
  async enter(threadId: number, wait: number): Promise<string> {
    const owner = this.owner(threadId)
    const last = await this.redis.lindex(this.queue, -1)
    const base = last
      ? Number(await this.redis.zscore(this.timeouts, last))
      : (await this.now()) + Math.max(0, await this.redis.pttl(this.name))
    await this.redis
      .multi()
      .rpush(this.queue, owner)
      .zadd(this.timeouts, base + wait, owner)
      .exec()
    return owner
  }

  /** Takes the lock from the head of the queue: every other place lapses `wait` ms earlier. */
  async takeFirst(threadId: number, wait: number, lease = 30_000): Promise<void> {
    const [, ...behind] = await this.places()
    await this.remove(this.owner(threadId), wait, behind)
    await this.take(lease, threadId)
  }

  /** Leaves the queue: every place behind lapses `wait` ms earlier. */
  async leave(threadId: number, wait: number): Promise<void> {
    const owners = await this.places()
    const behind = owners.slice(owners.indexOf(this.owner(threadId)) + 1)
    await this.remove(this.owner(threadId), wait, behind)
  }

  places(): Promise<string[]> {
    return this.redis.lrange(this.queue, 0, -1)
  }

  async head(): Promise<string | null> {
    return await this.redis.lindex(this.queue, 0)
  }

  /**
   * Each place with how far ahead of now it lapses, in order. Read at once: between a look at the clock and one at the scores a
   * refresh may set a score that is later.
   */
  async lapses(): Promise<[owner: string, ahead: number][]> {
    const read = this.redis
      .multi()
      .time()
      .lrange(this.queue, 0, -1)
      .zrange(this.timeouts, 0, '-1', 'WITHSCORES')
    const [time, owners, scored] = (await read.exec())!.map(([, answer]) => answer as string[])
    const now = milliseconds(time!)
    const scoreOf = (owner: string) => Number(scored![scored!.indexOf(owner) + 1])
    return owners!.map((owner) => [owner, scoreOf(owner) - now])
  }

  /** How far ahead of now each place lapses, in order. */
  async allowances(): Promise<number[]> {
    return (await this.lapses()).map(([, ahead]) => ahead)
  }

  /** At once, as a script of Java does it: a refresh in between would see half of it. */
  private async remove(owner: string, wait: number, behind: string[]) {
    const commands = this.redis.multi().lrem(this.queue, 0, owner).zrem(this.timeouts, owner)
    for (const each of behind) commands.zincrby(this.timeouts, -wait, each)
    await commands.exec()
  }

  private async now(): Promise<number> {
    return milliseconds((await this.redis.time()) as unknown as string[])
  }
}

const milliseconds = ([seconds, micros]: readonly string[]) =>
  Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000)
