import { createRequire } from 'node:module'
import { join } from 'node:path'
import { buildSync } from 'esbuild'
import type { Redis } from 'ioredis'

const ROOT = join(__dirname, '../..')
const BUNDLE = join(ROOT, '.tmp/bench/cycle.cjs')
/** What the package exports, and what is measured here and has no public name. */
const ENTRY = `
  export { Redis } from 'ioredis'
  export { Redisson } from './src/index'
  export { RawCommand } from './src/redis/send/raw-command'
  export { script } from './src/scripts/script'
  export { unscopedCaller } from './src/ownership/caller'
`

/** The sources in one file, as the package has them. */
function bundled() {
  buildSync({
    stdin: { contents: ENTRY, resolveDir: ROOT, loader: 'ts' },
    ...{ outfile: BUNDLE, bundle: true, packages: 'external', platform: 'node', target: 'node20' },
  })
  return createRequire(BUNDLE)(BUNDLE)
}

/** Something that is done again and again, with more around it than in the layer before. */
export interface Layer {
  readonly title: string
  /** Does it until then, by `performance.now()`; answers how often. */
  run(until: number): Promise<number>
}

export interface Layers {
  /** Two round trips, one after the other. */
  readonly cycle: readonly Layer[]
  /** From one holder of a lock to the next in the same process: one round trip. */
  readonly handoff: readonly Layer[]
  /** The ways to take a lock. To be run last: from the first logical thread on, Node follows every promise of the process. */
  readonly ways: readonly Layer[]
  close(): Promise<void>
}

const LEASE = 30_000
const NAME = 'cycle'
const CALLERS = 50

function layer(title: string, once: () => Promise<unknown>): Layer {
  return {
    title,
    async run(until) {
      let times = 0
      for (; performance.now() < until; times++) await once()
      return times
    },
  }
}

export async function openLayers(url: string): Promise<Layers> {
  const { Redis, Redisson, RawCommand, script, unscopedCaller: caller } = bundled()
  const redis: Redis = new Redis(url)
  const redisson = await Redisson.create({ redis: url })
  const lock = redisson.getLock(NAME)
  // biome-ignore lint/suspicious/noExplicitAny: the insides are no interface
  const { kind, client } = lock as any
  const unread = (raw: unknown) => raw
  const nothing = String(await redis.script('LOAD', 'return 1'))
  const [acquire, release, handoff] = [
    script('lock/acquire', unread),
    script('lock/release', unread),
    script('lock/handoff', unread),
  ]
  for (const { source } of [acquire, release, handoff]) await redis.script('LOAD', source)
  const owner = (id: number) => kind.ownerField(id)
  const send = (sha: string, args: readonly (string | number)[], name = NAME) =>
    new Promise((resolve, reject) =>
      redis.sendCommand(new RawCommand('evalsha', sha, [name], args, resolve, reject)),
    )
  // Beyond any that the client itself gives out here.
  let id = 1e12

  const cycle = [
    layer('two EVALSHA of `return 1`, by ioredis', async () => {
      await redis.evalsha(nothing, 1, NAME)
      await redis.evalsha(nothing, 1, NAME)
    }),
    layer('the same, sent in the way of this package', async () => {
      await send(nothing, [])
      await send(nothing, [])
    }),
    layer('… the scripts of the lock instead', async () => {
      const own = owner(++id)
      await send(acquire.sha, [own, LEASE])
      await send(release.sha, [own, 0, 0, kind.channel, 'publish', 0])
    }),
    layer('… followed through retries, deadlines and silent connections', async () => {
      const own = owner(++id)
      await kind.acquire(own, LEASE).answer
      await kind.release(own, 0, 0, 0).answer
    }),
    layer('… through the queue of the process', async () => {
      const attempt = kind.newAttempt({ caller, lease: LEASE, waitTime: Infinity })
      await client.acquire(kind, attempt)
      await kind.release(attempt.owner, 0, 0, 0).answer
    }),
    layer('… and holds, levels, callers: `acquire()`, `hold.unlock()`', async () => {
      const hold = await lock.acquire()
      await hold.unlock()
    }),
  ]

  const [raw, hot] = ['cycle:raw', redisson.getLock('cycle:hot')]
  let holder = 1e13
  await redis.hset(raw, owner(holder), 1)
  const handoffs = [
    layer('an EVALSHA of `return 1`, by ioredis', () => redis.evalsha(nothing, 1, NAME)),
    layer('the script that hands off, sent in the way of this package', () => {
      const giver = owner(holder)
      return send(handoff.sha, [giver, owner(++holder), LEASE], raw)
    }),
    {
      title: `${CALLERS} callers of one lock: \`acquire()\`, \`hold.unlock()\``,
      async run(until: number) {
        const caller = async () => {
          let times = 0
          for (; performance.now() < until; times++) await (await hot.acquire()).unlock()
          return times
        }
        const all = await Promise.all(Array.from({ length: CALLERS }, caller))
        return all.reduce((sum, times) => sum + times, 0)
      },
    },
  ]
  const ways = [
    layer('`acquire()`, `hold.unlock()`', async () => {
      const hold = await lock.acquire()
      await hold.unlock()
    }),
    layer('`withLock(fn)`: a logical thread for `fn`', () => lock.withLock(() => {})),
    layer('`run(fn)` with `lock()` and `unlock()`: the same, and an owner that re-enters', () =>
      redisson.run(async () => {
        await lock.lock()
        await lock.unlock()
      }),
    ),
  ]
  return {
    cycle,
    handoff: handoffs,
    ways,
    async close() {
      await redisson.shutdown()
      redis.disconnect()
    },
  }
}
