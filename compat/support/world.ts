import { Redis } from 'ioredis'
import { type JavaPeer, type RedissonSettings, startJavaPeer } from '../../test/kit/java'
import { type Standalone, startStandalone, waitUntil } from '../../test/kit/servers/index'
import { READ, type Sides, WRITE } from './lock-peer'
import { NodePeer } from './node-peer'

export interface WorldOptions {
  readonly lockWatchdogTimeout?: number
  /** A name mapper on both sides that puts this before every name. */
  readonly namePrefix?: string
  /** Warms up read-write locks, too. */
  readonly readWrite?: boolean
}

/** A server that no other suite uses, a Java peer and a Node one on it. Filled in before the tests of the suite. */
export interface World extends Sides {
  readonly version: string
  readonly server: Standalone
  readonly redis: Redis
  readonly Java: JavaPeer
  readonly Node: NodePeer
}

/** To be called in a `describe`: sets the world up before its tests and takes it down after them. */
export function setUpWorld(version: string, options: WorldOptions = {}): World {
  const world = { version } as { -readonly [K in keyof World]: World[K] }

  before(async () => {
    world.server = await startStandalone()
    const redis = world.server.url
    world.redis = new Redis(redis)
    ;[world.Java, world.Node] = await Promise.all([
      startJavaPeer({ version, redis, settings: javaSettings(options) }),
      NodePeer.start({ redis, ...nodeOptions(options) }),
    ])
    await warmUp(world)
    if (options.readWrite) await warmUpReadWrite(world)
  })

  after(async () => {
    world.redis?.disconnect()
    await Promise.all([world.Java?.kill(), world.Node?.shutdown()])
    await world.server?.stop()
  })

  return world
}

function javaSettings({ lockWatchdogTimeout, namePrefix }: WorldOptions): Partial<RedissonSettings> {
  return { lockWatchdogTimeout, namePrefix }
}

function nodeOptions({ lockWatchdogTimeout, namePrefix }: WorldOptions) {
  return {
    ...(lockWatchdogTimeout !== undefined && { lockWatchdogTimeout }),
    ...(namePrefix !== undefined && { nameMapper: { map: (name: string) => namePrefix + name } }),
  }
}

/** Loads classes, scripts and connections, so that no test takes a JVM's first steps for a late wake-up. */
export async function warmUp({ Java, Node }: Sides): Promise<void> {
  for (const [first, second] of [
    [Java, Node],
    [Node, Java],
  ] as const) {
    await first.thread('a').lock('warm-up')
    const waiting = second.thread('b').lock('warm-up')
    await new Promise((resolve) => setTimeout(resolve, 100))
    await first.thread('a').unlock('warm-up')
    await waiting
    await second.thread('b').unlock('warm-up')
  }
}

/** As above, for both sides of a read-write lock. */
export async function warmUpReadWrite({ Java, Node }: Sides): Promise<void> {
  for (const [holder, waiter] of [
    [Java, Node],
    [Node, Java],
  ] as const) {
    const [holding, waiting] = [holder.thread('a'), waiter.thread('b')]
    for (const [held, wanted] of [
      [WRITE, READ],
      [READ, WRITE],
    ]) {
      await holding.lock('warm-up rw', held)
      const acquiring = waiting.lock('warm-up rw', wanted)
      await new Promise((resolve) => setTimeout(resolve, 100))
      await holding.unlock('warm-up rw', held)
      await acquiring
      await waiting.unlock('warm-up rw', wanted)
    }
  }
}

/** Resolves once somebody is subscribed to the lock's channel and has had the time to look once more. */
export async function untilWaiting(
  redis: Redis,
  channel: string,
  listeners = 1,
  settleMs = 60,
): Promise<void> {
  await waitUntil(`${listeners} clients wait on ${channel}`, async () => {
    const [, count] = (await redis.pubsub('NUMSUB', channel)) as [string, number]
    return Number(count) >= listeners
  })
  await new Promise((resolve) => setTimeout(resolve, settleMs))
}

export const channelOf = (name: string): string =>
  name.includes('{') ? `redisson_lock__channel:${name}` : `redisson_lock__channel:{${name}}`

/**
 * As untilWaiting, for a read-write lock, and then a while longer. A Java thread that is just asking when the
 * message `1` comes never hears of it: Java wakes with it those who sleep at that moment, and keeps nothing for
 * those who are about to. Several threads of a Java process do not fall asleep at once.
 */
export function untilAsleep(redis: Redis, name: string, clients = 1): Promise<void> {
  return untilWaiting(redis, readWriteChannelOf(name), clients, clients > 1 ? 250 : 100)
}

/** The channel of a read-write lock, for names without braces. */
export const readWriteChannelOf = (name: string): string => `redisson_rwlock:{${name}}`
