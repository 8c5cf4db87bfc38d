import type { Redis } from 'ioredis'
import type { ClientInternals } from '../../src/client/client-internals'
import type { LockHold, LockOptions, Redisson, RedissonOptions } from '../../src/index'
import { luaSources } from '../../src/scripts/lua.generated'
import { createRedisson, openRedis, uniqueName } from './clients'
import { ForeignLock } from './foreign-lock'
import { asleep } from './sleepers'
import { type ScriptSent, type Tap, tapped } from './tapped-transport'
import { VirtualClock } from './virtual-clock'

const LEASE = 60_000

/**
 * A client whose callers queue for one lock, which somebody else has at first. Its time stands still, so that its turn
 * lasts for as long as a test needs; the server's goes on.
 */
export class HandoffScene {
  readonly clock = new VirtualClock()
  readonly lost: string[] = []
  /** The scripts that were sent, in order. */
  readonly sent: string[] = []
  /** What happens to handoffs. */
  onHandoff: Tap = (sent) => sent.pass()
  /** What happens to other scripts. */
  onOther: Tap = (sent) => sent.pass()
  redisson!: Redisson

  private constructor(
    readonly redis: Redis,
    readonly foreign: ForeignLock,
  ) {}

  static async open(options: Partial<RedissonOptions> = {}, url?: string): Promise<HandoffScene> {
    const redis = await openRedis(url)
    // Known scripts only, so that each is sent once.
    for (const source of Object.values(luaSources)) await redis.script('LOAD', source)
    const scene = new HandoffScene(redis, new ForeignLock(redis, uniqueName()))
    const redirect = url === undefined ? {} : { redis: url }
    scene.redisson = await createRedisson({ ...redirect, ...options }, scene.internals)
    scene.redisson.on('lockLost', ({ reason }) => scene.lost.push(reason))
    await scene.foreign.take(LEASE)
    return scene
  }

  get name(): string {
    return this.foreign.name
  }

  get lock() {
    return this.redisson.getLock(this.name)
  }

  private get internals(): ClientInternals {
    const transport = tapped((sent) => this.pass(sent))
    return { clock: this.clock, transport }
  }

  private pass(sent: ScriptSent): Promise<unknown> {
    this.sent.push(sent.name)
    return sent.name === 'lock/handoff' ? this.onHandoff(sent) : this.onOther(sent)
  }

  /** Queues a giver, and behind it who is to be handed the lock. Resolves once the giver has the lock. */
  async queued<T extends readonly Promise<unknown>[]>(
    behind: () => readonly [...T],
    options: LockOptions = {},
  ): Promise<[giver: LockHold, ...T]> {
    const giving = this.lock.acquire(options)
    const waiting = behind()
    for (const each of waiting) each.catch(() => {})
    await this.asleep(1 + waiting.length)
    await this.foreign.release()
    const hold = await giving
    this.sent.length = 0
    return [hold, ...waiting]
  }

  asleep(waiters: number): Promise<void> {
    return asleep(this.redisson, `lock ${this.name}`, waiters)
  }

  /** The owner fields that the server knows. */
  owners(): Promise<string[]> {
    return this.redis.hkeys(this.name)
  }

  fieldOf({ threadId }: LockHold): string {
    return `${this.redisson.getId()}:${threadId}`
  }

  /** What is published for those who wait from now on. */
  async messages(): Promise<string[]> {
    const messages: string[] = []
    const ear = await openRedis(`redis://${this.redis.options.host}:${this.redis.options.port}`)
    ear.on('message', (_, message) => messages.push(message))
    await ear.subscribe(this.foreign.channel)
    return messages
  }
}

/** What a command meets whose connection has gone. */
export const connectionLost = () => new Error('Connection is closed.')
