import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { luaSources } from '../../../src/scripts/lua.generated'
import { readingLast } from './reading-last'
import { type Tracked, track } from './tracked'

const acquire = luaSources['lock/acquire']
const release = luaSources['lock/release']
const renew = luaSources['lock/renew']
const force = luaSources['lock/force-release']
const acquireReadingLast = readingLast(acquire)

const MODES: Record<string, { args: string[]; caching?: boolean }> = {
  'default, NOLOOP': { args: ['NOLOOP'] },
  default: { args: [] },
  'OPTIN, NOLOOP, unasked': { args: ['OPTIN', 'NOLOOP'] },
  'OPTIN, NOLOOP, CLIENT CACHING YES before': { args: ['OPTIN', 'NOLOOP'], caching: true },
  'BCAST, NOLOOP': { args: ['BCAST', 'PREFIX', 'fact:', 'NOLOOP'] },
}

/** What the tracked connection does, and then what happens to the key: is the key named? */
interface Fact {
  readonly what: string
  before(tracked: Tracked, run: Run, key: string, other: Redis): Promise<unknown>
  change(other: Redis, key: string, run: Run): Promise<unknown>
}

type Run = (source: string, key: string, ...args: (string | number)[]) => Promise<unknown>

const on = (redis: Redis) => (source: string, key: string, args: (string | number)[]) =>
  redis.eval(source, 1, key, ...args)

const del = (other: Redis, key: string) => other.del(key)

const FACTS: Fact[] = [
  {
    what: 'acquire (reads, then writes); DEL by another',
    before: (_, run, key) => run(acquire, key, 'me:1', 60_000),
    change: del,
  },
  {
    what: 'acquire that reads last; DEL by another',
    before: (_, run, key) => run(acquireReadingLast, key, 'me:1', 60_000),
    change: del,
  },
  {
    what: 'acquire that reads last; forceUnlock by another',
    before: (_, run, key) => run(acquireReadingLast, key, 'me:1', 60_000),
    change: (other, key) => on(other)(force, key, ['me:1', 'channel', 'publish']),
  },
  {
    what: 'acquire that reads last; its own release',
    before: (_, run, key) => run(acquireReadingLast, key, 'me:1', 60_000),
    change: (_, key, run) => run(release, key, 'me:1', 0, 0, 'channel', 'publish', 0),
  },
  {
    what: 'acquire that reads last; its own renewal',
    before: (_, run, key) => run(acquireReadingLast, key, 'me:1', 10_000),
    change: (_, key, run) => run(renew, key, 60_000, 'me:1'),
  },
  {
    what: 'renewal (writes, then reads); DEL by another',
    before: async (_, run, key, other) => {
      await on(other)(acquire, key, ['me:1', 10_000])
      await run(renew, key, 60_000, 'me:1')
    },
    change: del,
  },
  {
    what: 'acquire that reads last; the lease runs out',
    before: (_, run, key) => run(acquireReadingLast, key, 'me:1', 50),
    change: () => sleep(400),
  },
  {
    what: 'a try while another holds; its release',
    before: async (_, run, key, other) => {
      await on(other)(acquire, key, ['other:1', 60_000])
      await run(acquire, key, 'me:1', 60_000)
    },
    change: (other, key) => on(other)(release, key, ['other:1', 0, 0, 'channel', 'publish', 0]),
  },
  {
    what: 'acquire that reads last; FLUSHALL',
    before: (_, run, key) => run(acquireReadingLast, key, 'me:1', 60_000),
    change: (other) => other.flushall(),
  },
]

/** A Markdown table: in which mode which change of a lock's key is told to the connection that ran the script. */
export async function facts(url: string): Promise<string> {
  const other = new Redis(url)
  const rows: string[][] = [['', ...Object.keys(MODES)]]
  for (const { what, before, change } of FACTS) {
    const row = [what]
    for (const { args, caching } of Object.values(MODES)) {
      const key = `fact:${Math.random().toString(36).slice(2)}`
      const tracked = await track(url, args.length > 0 ? args : ['OPTOUT'])
      const run: Run = async (source, its, ...given) => {
        if (!caching) return await tracked.redis.eval(source, 1, its, ...given)
        const [, answer] = await Promise.all([
          tracked.redis.call('CLIENT', 'CACHING', 'YES'),
          tracked.redis.eval(source, 1, its, ...given),
        ])
        return answer
      }
      await before(tracked, run, key, other)
      await sleep(20)
      const own = tracked.named().length
      await change(other, key, run)
      await sleep(50)
      const named = tracked.named().length
      row.push(`${named > 0 ? 'told' : '–'}${own > 0 ? ' (and once before)' : ''}`)
      tracked.close()
      await other.del(key)
    }
    rows.push(row)
  }
  other.disconnect()
  rows.splice(
    1,
    0,
    rows[0]!.map(() => '---'),
  )
  return rows.map((row) => `| ${row.join(' | ')} |`).join('\n')
}
