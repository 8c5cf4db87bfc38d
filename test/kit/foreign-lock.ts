import type { Redis } from 'ioredis'
import { lockChannel } from '../../src/locks/hash-lock-kind'

/** A lock as a Java peer holds and frees it: the bare commands, so that a test decides which of them happen. */
export class ForeignLock {
  readonly channel: string
  private readonly field = '00000000-0000-0000-0000-000000000000:1'

  constructor(
    private readonly redis: Redis,
    readonly name: string,
  ) {
    this.channel = lockChannel(name)
  }

  /** Without a lease the key has no expiry. */
  async take(lease?: number): Promise<void> {
    await this.redis.hset(this.name, this.field, 1)
    if (lease !== undefined) await this.redis.pexpire(this.name, lease)
  }

  async release(): Promise<void> {
    await this.redis.multi().del(this.name).publish(this.channel, '0').exec()
  }

  /** Frees the lock and notifies no waiter, as an expiry does. */
  async vanish(): Promise<void> {
    await this.redis.del(this.name)
  }

  /** How many connections listen to the lock's channel. */
  async listeners(): Promise<number> {
    const [, count] = (await this.redis.pubsub('NUMSUB', this.channel)) as [string, number]
    return Number(count)
  }
}
