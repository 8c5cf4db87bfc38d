import { Redis } from 'ioredis'
import { describeWithJava, type JavaPeer, startJavaPeer } from '../../test/kit/java'
import { type Standalone, startStandalone, waitUntil } from '../../test/kit/servers/index'
import { BOTH_WAYS, type ObjectChoice, READ, type Sides, WRITE } from './lock-peer'
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
    const { lockWatchdogTimeout, namePrefix } = options
    world.redis = new Redis(redis)
    ;[world.Java, world.Node] = await Promise.all([
      startJavaPeer({ version, redis, settings: { lockWatchdogTimeout, namePrefix } }),
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

/** A suite for each of these versions of Redisson, in a world of its own. */
export function describeWorlds(
  title: string,
  versions: readonly string[],
  options: WorldOptions,
  tests: (world: World) => void,
): void {
  const each = () => {
    for (const version of versions)
      describe(`with Redisson ${version}`, () => tests(setUpWorld(version, options)))
  }
  describeWithJava(title, each, versions)
}

function nodeOptions({ lockWatchdogTimeout, namePrefix }: WorldOptions) {
  return {
    ...(lockWatchdogTimeout !== undefined && { lockWatchdogTimeout }),
    ...(namePrefix !== undefined && { nameMapper: { map: (name: string) => namePrefix + name } }),
  }
}

const LOCK: readonly ObjectChoice[] = [{}, {}]

/** Loads classes, scripts and connections, so that no test takes a JVM's first steps for a late wake-up. */
export async function warmUp(sides: Sides, choices = [LOCK]): Promise<void> {
  for (const [holder, waiter] of BOTH_WAYS) {
    const [holding, waiting] = [sides[holder].thread('a'), sides[waiter].thread('b')]
    for (const [held, wanted] of choices) {
      const name = `warm-up ${held!.type ?? 'lock'}`
      await holding.lock(name, held)
      const acquiring = waiting.lock(name, wanted)
      await new Promise((resolve) => setTimeout(resolve, 100))
      await holding.unlock(name, held)
      await acquiring
      await waiting.unlock(name, wanted)
    }
  }
}

/** The same for both sides of a read-write lock. */
export const warmUpReadWrite = (sides: Sides): Promise<void> =>
  warmUp(sides, [
    [WRITE, READ],
    [READ, WRITE],
  ])

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
