import type { Redis } from 'ioredis'
import { luaSources } from '../../../../src/scripts/lua.generated'
import { Random, shuffled } from '../../../../test/kit/random'
import { recordCalls } from './corpus'
import { mutated } from './mutation'
import { type Call, difference, type Key, TwoServers } from './two-servers'

/** After so many calls both servers begin anew. */
const A_STATE = 150
const DISTURBED = 5
const HUGE = '9007199254740991'

export type ScriptName = keyof typeof luaSources

export interface ComparisonOptions {
  /** A server of its own: it is flushed. */
  readonly redis: Redis
  readonly seed: number
  readonly calls: number
  onProgress?(done: number): void
}

export interface Comparison {
  /** What differed, the first of all; nothing where the servers agree. */
  readonly difference: string | undefined
  /** How many calls the scripts had, and how many of them were refused with an error. */
  readonly scripts: ReadonlyMap<ScriptName, { calls: number; errors: number }>
  /** Scripts that no client sent while calls were recorded. */
  readonly missing: readonly ScriptName[]
}

/** Sends random calls of every script to a real server and to one in memory, and compares all that can be seen. */
export async function compare({
  redis,
  seed,
  calls,
  onProgress = () => {},
}: ComparisonOptions): Promise<Comparison> {
  const random = new Random(seed)
  const corpus = await recordCalls(random)
  const names = Object.keys(luaSources) as ScriptName[]
  const missing = names.filter((name) => !corpus.has(name))
  const scripts = new Map(names.map((name) => [name, { calls: 0, errors: 0 }]))
  if (missing.length > 0) return { difference: undefined, scripts, missing }

  const both = await TwoServers.open(redis)
  const recorded = [...new Set([...corpus.values()].flat().flatMap(({ keys }) => keys))]
  let tour: ScriptName[] = []
  for (let at = 0; at < calls; at++) {
    if (at % A_STATE === 0) await both.flush()
    if (random.chance(DISTURBED)) {
      const [source, call] = disturbance(recorded, both.keys, random)
      const { real, memory } = await both.run(source, call)
      const found = difference(real, memory)
      if (found !== undefined) return { difference: described(at, source, call, found), scripts, missing }
    }
    // Each script once a tour, so that none is left out by chance, and behind any other: permits are taken after they were set.
    if (tour.length === 0) tour = shuffled(names, random)
    const name = tour.pop()!
    const call = mutated(corpus, name, both.keys, random)
    const before = both.keys
    const { real, memory } = await both.run(luaSources[name], call)
    const found = difference(real, memory)
    if (found !== undefined)
      return {
        difference: described(at, name, call, `${JSON.stringify(before)}\n${found}`),
        scripts,
        missing,
      }
    const count = scripts.get(name)!
    count.calls++
    if (typeof real.reply === 'string' && /^[A-Z]+ /.test(real.reply)) count.errors++
    if (both.isAboutToChange) await both.flush()
    onProgress(at + 1)
  }
  return { difference: undefined, scripts, missing }
}

const described = (at: number, name: string, call: Call, found: string) =>
  `call ${at}: ${name} ${JSON.stringify(call)}\n${found}`

/** Makes a key another than scripts leave behind. */
function disturbance(names: readonly string[], keys: readonly Key[], random: Random): [string, Call] {
  const count = random.pick(['0', '1', '3', 'x', HUGE])
  const name = random.pick(names)
  const hash = random.pick([...keys.filter(({ fields }) => fields.length > 0), { name, fields: ['a:1'] }])
  const [source, key, ...args] = random.pick([
    ["return redis.call('set', KEYS[1], ARGV[1], 'px', 77000)", name, count],
    [
      "redis.call('del', KEYS[1]) return redis.call('hset', KEYS[1], 'a:1', ARGV[1], 'mode', 'write')",
      name,
      count,
    ],
    ["return redis.pcall('hset', KEYS[1], ARGV[1], ARGV[2])", hash.name, random.pick(hash.fields), count],
    ["redis.call('del', KEYS[1]) return redis.call('rpush', KEYS[1], ARGV[1], 'x')", name, count],
    ["redis.call('del', KEYS[1]) return redis.call('zadd', KEYS[1], 5, ARGV[1])", name, count],
    ["redis.call('del', KEYS[1]) return redis.call('sadd', KEYS[1], ARGV[1])", name, count],
    ["return redis.call('persist', KEYS[1])", name],
    ["return redis.call('del', KEYS[1])", name],
  ]) as [string, string, ...string[]]
  return [source, { keys: [key], args }]
}
