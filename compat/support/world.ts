import { Redis } from 'ioredis'
import { type Standalone, startStandalone, waitUntil } from '../../test/servers'
import { type JavaPeer, type RedissonSettings, startJavaPeer } from '../java-peer'
import type { Sides } from './lock-peer'
import { NodePeer } from './node-peer'

export interface WorldOptions {
  readonly lockWatchdogTimeout?: number
  /** A name mapper on both sides that puts this before every name. */
  readonly namePrefix?: string
}

/** A server nobody else uses, a Java peer and a Node one on it. Filled in before the tests of the suite. */
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

/** Resolves once somebody is subscribed to the lock's channel and has had the time to look once more. */
export async function untilWaiting(redis: Redis, channel: string, listeners = 1): Promise<void> {
  await waitUntil(`${listeners} clients wait on ${channel}`, async () => {
    const [, count] = (await redis.pubsub('NUMSUB', channel)) as [string, number]
    return Number(count) >= listeners
  })
  await new Promise((resolve) => setTimeout(resolve, 60))
}

export const channelOf = (name: string): string =>
  name.includes('{') ? `redisson_lock__channel:${name}` : `redisson_lock__channel:{${name}}`
