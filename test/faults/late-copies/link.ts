import type { Redis } from 'ioredis'
import type { ClientInternals } from '../../../src/client/client-internals'
import type { RLock } from '../../../src/engine/rlock'
import type { Redisson, RedissonOptions } from '../../../src/index'
import { createRedisson } from '../../kit/clients'
import { openProxy } from '../../kit/proxies'
import { type Address, type LateCopy, type TcpProxy, waitUntil } from '../../kit/servers/index'
import { openStandalone, type Setting } from '../lost-replies/setting'

export const KINDS: Record<string, (redisson: Redisson, name: string) => RLock> = {
  'a lock': (redisson, name) => redisson.getLock(name),
  'a read lock': (redisson, name) => redisson.getReadWriteLock(name).readLock(),
  'a fair lock': (redisson, name) => redisson.getFairLock(name),
  'a write lock': (redisson, name) => redisson.getReadWriteLock(name).writeLock(),
}

/** What the test that runs now has. */
export let setting: Setting
export let link: LateLink

/** For a `describe`: a setting for its tests, and a link for each. */
export function lateLinks(open = openStandalone): void {
  before(async () => {
    setting = await open()
  })
  beforeEach(async () => {
    link = await LateLink.open(setting)
  })
  after(() => setting.stop())
}

/** Proxies before all nodes of a setting, which can keep commands back. Closed after the test. */
export class LateLink {
  private constructor(
    readonly proxies: readonly TcpProxy[],
    private readonly setting: Setting,
  ) {}

  static async open(setting: Setting): Promise<LateLink> {
    const proxies: TcpProxy[] = []
    for (const node of setting.nodes) proxies.push(await openProxy(node))
    return new LateLink(proxies, setting)
  }

  /** A client behind the proxies. */
  async client(
    options: Partial<RedissonOptions> = {},
    internals: ClientInternals = {},
    redis = this.source,
  ): Promise<Redisson> {
    const redisson = await createRedisson({ redis, ...options }, internals)
    // Whichever connections it needs for this it has from now on.
    await redisson.getLock(this.setting.newName()).withLock(() => {})
    return redisson
  }

  get source(): RedissonOptions['redis'] {
    const addresses = this.proxies.map(({ host, port }) => ({ host, port }))
    const natMap = Object.fromEntries(
      this.setting.nodes.map(({ host, port }, index) => [`${host}:${port}`, addresses[index]!]),
    )
    return this.setting.source(addresses, natMap as Record<string, Address>)
  }

  /** Keeps the next script for this key back, and breaks its connection. */
  withhold(name: string): Promise<LateCopy> {
    const matches = ([command, , ...words]: readonly string[]) =>
      command === 'evalsha' && words.includes(name)
    return Promise.race(this.proxies.map((proxy) => proxy.withhold(matches)))
  }

  refuse(): void {
    for (const proxy of this.proxies) proxy.refuse()
  }

  async accept(): Promise<void> {
    for (const proxy of this.proxies) await proxy.accept()
  }
}

/** All keys of a lock, its read holds' included. */
export const keysOf = (redis: Redis, name: string): Promise<string[]> => redis.keys(`*${name}*`)

export async function isFree(redis: Redis, name: string): Promise<void> {
  await waitUntil(`nothing is left of ${name}`, async () => (await keysOf(redis, name)).length === 0)
}
