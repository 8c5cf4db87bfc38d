import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Redis } from 'ioredis'

const ROOT = join(__dirname, '../..')
/** The built package, insides included: what is measured here has no public name. */
const built = createRequire(join(ROOT, 'package.json'))

/** One way to make two round trips, each with more around them than the one before. */
export interface Layer {
  readonly name: string
  readonly title: string
  cycle(): Promise<unknown>
}

const LEASE = 30_000
const NAME = 'cycle'

export async function openLayers(url: string): Promise<{ layers: readonly Layer[]; close(): Promise<void> }> {
  const { Redis } = built('ioredis')
  const { Redisson } = built('./dist/index.js')
  const { sendScript } = built('./dist/connection/quick-command.js')
  const { script } = built('./dist/scripts/script.js')
  const { Acquisition } = built('./dist/locks/acquisition.js')
  const redis: Redis = new Redis(url)
  const redisson = await Redisson.create({ redis: url })
  const lock = redisson.getLock(NAME)
  // biome-ignore lint/suspicious/noExplicitAny: the insides are nobody's interface
  const { protocol, context } = lock as any
  const nothing = String(await redis.script('LOAD', 'return 1'))
  const [acquire, release] = [script('lock/acquire'), script('lock/release')]
  for (const { source } of [acquire, release]) await redis.script('LOAD', source)
  const owner = (id: number) => protocol.ownerField(id)
  const send = (sha: string, args: readonly (string | number)[]) =>
    new Promise((resolve, reject) => sendScript(redis, 'evalsha', sha, [NAME], args, resolve, reject))
  // Beyond any that the client itself gives out here.
  let id = 1e12

  const layers: Layer[] = [
    {
      name: 'limit',
      title: 'two EVALSHA of `return 1`, by ioredis',
      async cycle() {
        await redis.evalsha(nothing, 1, NAME)
        await redis.evalsha(nothing, 1, NAME)
      },
    },
    {
      name: 'sending',
      title: 'the same, sent in the way of this package',
      async cycle() {
        await send(nothing, [])
        await send(nothing, [])
      },
    },
    {
      name: 'scripts',
      title: '… the scripts of the lock instead',
      async cycle() {
        const own = owner(++id)
        await send(acquire.sha, [own, LEASE])
        await send(release.sha, [own, 0, 0, protocol.channel, 'publish', 0])
      },
    },
    {
      name: 'calls',
      title: '… followed through retries, deadlines and silent connections',
      async cycle() {
        const own = owner(++id)
        await protocol.acquire(own, LEASE).answer
        await protocol.release(own, 0, 0, 0).answer
      },
    },
    {
      name: 'queue',
      title: '… through the queue of the process',
      async cycle() {
        const own = owner(++id)
        await context.waiting.acquire(
          protocol,
          new Acquisition(context, protocol, own, undefined, LEASE, undefined, undefined),
        )
        await protocol.release(own, 0, 0, 0).answer
      },
    },
    {
      name: 'lock',
      title: '… and holds, levels, callers: `acquire()`, `hold.unlock()`',
      async cycle() {
        const hold = await lock.acquire()
        await hold.unlock()
      },
    },
  ]
  return {
    layers,
    async close() {
      await redisson.shutdown()
      redis.disconnect()
    },
  }
}
