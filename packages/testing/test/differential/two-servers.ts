import type { Redis } from 'ioredis'
import { fromBytes, toBytes } from '../../src/bytes'
import { Status } from '../../src/data/keyspace'
import { InMemoryServer } from '../../src/server'
import { ServerClock } from '../../src/server-clock'

/** An argument; `end` stands for the time at which the lease of a key ends, by the clock of each server. */
export type Argument = string | { readonly end: string; readonly shift: number }

export interface Call {
  readonly keys: readonly string[]
  readonly args: readonly Argument[]
}

/** A key, and its fields where it is a hash. */
export interface Key {
  readonly name: string
  readonly expires: boolean
  readonly fields: readonly string[]
}

/** Strings have a character for each byte: two that differ in any byte differ here. */
interface Outcome {
  readonly reply: unknown
  /** By name. `timeToLive` is in ms. */
  readonly state: Readonly<Record<string, { kind: string; timeToLive: number; content: unknown }>>
}

/** All keys with their types, times to live and contents, and the time in ms. */
const DUMP = `
local now = redis.call('time')
local names = redis.call('keys', '*')
table.sort(names)
local keys = {}
for i, name in ipairs(names) do
  local kind = redis.call('type', name).ok
  local content = kind == 'hash' and redis.call('hgetall', name)
    or kind == 'string' and redis.call('get', name)
    or kind == 'zset' and redis.call('zrange', name, 0, -1, 'withscores')
    or kind == 'list' and redis.call('lrange', name, 0, -1)
    or kind == 'set' and redis.call('smembers', name)
  keys[i] = { name, kind, redis.call('pttl', name), content }
end
return { now[1] * 1000 + math.floor(now[2] / 1000), keys }`

type Dump = [now: number, keys: [name: string, kind: string, timeToLive: number, content: unknown][]]

/** Scripts that end later than this may differ by the time between the calls. */
export const TOLERANCE = 2_000
/** A number above this is a time in µs: the year 1973 in µs, or 5138 in ms. */
const MICROSECONDS = 1e14
/** Where an answer has a duration in µs. */
const AGO_OF_A_LATCH = '/reply/2'

/** A real server and an in-memory one that get the same calls. */
export class TwoServers {
  private dumps: { real: Dump; memory: Dump } = { real: [0, []], memory: [0, []] }

  private constructor(
    private readonly redis: Redis,
    private readonly server = new InMemoryServer(new ServerClock(undefined)),
  ) {}

  static async open(redis: Redis): Promise<TwoServers> {
    const both = new TwoServers(redis)
    await both.server.engine.load()
    return both
  }

  get keys(): Key[] {
    return this.dumps.real[1].map(([name, kind, timeToLive, content]) => ({
      name: fromBytes(name),
      expires: timeToLive > 0,
      fields: kind === 'hash' ? (content as string[]).filter((_, at) => at % 2 === 0).map(fromBytes) : [],
    }))
  }

  /** Whether a key expires so soon that it may do so between two calls. */
  get isAboutToChange(): boolean {
    return this.dumps.memory[1].some(([, , timeToLive]) => timeToLive >= 0 && timeToLive < TOLERANCE)
  }

  async flush(): Promise<void> {
    await this.redis.flushall()
    this.server.engine.call('FLUSHALL', [])
    this.dumps = { real: [0, []], memory: [0, []] }
  }

  /** Runs a script on both. */
  async run(source: string, call: Call): Promise<{ real: Outcome; memory: Outcome }> {
    const memory = this.inMemory(source, call)
    const real = await this.really(source, call)
    return { real, memory }
  }

  private inMemory(source: string, { keys, args }: Call): Outcome {
    const words = args.map((arg) => wordOf(arg, this.dumps.memory))
    const reply = outcomeOf(() => plain(this.server.engine.evaluate(source, keys, words)))
    const dump = plain(this.server.engine.evaluate(DUMP, [], [])) as Dump
    this.dumps.memory = dump
    return { reply, state: stateOf(dump) }
  }

  private async really(source: string, { keys, args }: Call): Promise<Outcome> {
    const words = args.map((arg) => wordOf(arg, this.dumps.real))
    const results = await this.redis
      .pipeline()
      .callBuffer('eval', source, keys.length, ...keys, ...words)
      .callBuffer('eval', DUMP, 0)
      .exec()
    const [[error, reply] = [], [, state] = []] = results!
    const dump = plain(state) as Dump
    this.dumps.real = dump
    return { reply: error ? error.message : plain(reply), state: stateOf(dump) }
  }
}

/** A reply of either server as the other gives it. */
function plain(reply: unknown): unknown {
  if (Buffer.isBuffer(reply)) return reply.toString('latin1')
  if (reply instanceof Status) return reply.text
  return Array.isArray(reply) ? reply.map(plain) : reply
}

function outcomeOf(run: () => unknown): unknown {
  try {
    return run()
  } catch (error) {
    return (error as Error).message
  }
}

function wordOf(arg: Argument, [now, keys]: Dump): string {
  if (typeof arg === 'string') return arg
  const timeToLive = keys.find(([name]) => name === toBytes(arg.end))?.[2] ?? 0
  return String(now + timeToLive + arg.shift)
}

function stateOf([, keys]: Dump): Outcome['state'] {
  return Object.fromEntries(
    keys.map(([name, kind, timeToLive, content]) => [
      name,
      { kind, timeToLive, content: kind === 'zset' ? scoresOf(content as string[]) : content },
    ]),
  )
}

/** By member: two scores that are times may come in another order on another server. */
function scoresOf(content: readonly string[]): Record<string, string> {
  const scores: Record<string, string> = {}
  for (let at = 0; at < content.length; at += 2) scores[content[at]!] = content[at + 1]!
  return scores
}

/** Where two outcomes differ; numbers that are times or times to live may differ by a little. */
export function difference(real: unknown, memory: unknown, path = ''): string | undefined {
  if (real === memory) return undefined
  if (isNumber(real) && isNumber(memory) && typeof real === typeof memory) {
    const [one, other] = [Number(real), Number(memory)]
    // A latch answers in µs when it was opened, and how long ago that was.
    const isMicroseconds = Math.abs(one) > MICROSECONDS || path === AGO_OF_A_LATCH
    const isTime =
      isMicroseconds || one > TOLERANCE || (path.endsWith('/timeToLive') && Math.min(one, other) >= 0)
    const tolerance = isMicroseconds ? 1_000 * TOLERANCE : TOLERANCE
    if (isTime && Math.abs(one - other) < tolerance) return undefined
  }
  // A record of a request: its number and its answer.
  if (typeof real === 'string' && typeof memory === 'string' && /^\d+ \S+$/.test(real)) {
    const [words, others] = [real.split(' '), memory.split(' ')]
    if (words.length === others.length) return difference(words, others, path)
  }
  if (typeof real === 'object' && typeof memory === 'object' && real !== null && memory !== null) {
    const names = new Set([...Object.keys(real), ...Object.keys(memory)])
    for (const name of names) {
      const [one, other] = [real, memory].map((each) => (each as Record<string, unknown>)[name])
      const found = difference(one, other, `${path}/${name}`)
      if (found !== undefined) return found
    }
    return undefined
  }
  if (typeof real === 'string' && typeof memory === 'string' && withoutPlace(real) === withoutPlace(memory))
    return undefined
  return `${path || 'the outcome'}: Redis ${JSON.stringify(real)}, in memory ${JSON.stringify(memory)}`
}

function isNumber(value: unknown): boolean {
  return typeof value === 'number' || (typeof value === 'string' && /^-?\d+(\.\d+e\+\d+)?$/.test(value))
}

/** An error of a script without the place where it came up, which every version says in its own way. */
function withoutPlace(message: string): string {
  return message
    .replace(/ script: [0-9a-f]{40}, on @?user_script:\d+\.$/, '')
    .replace(
      /^ERR Error running script \(call to f_[0-9a-f]{40}\): @user_script:\s?\d+: (@user_script:\s?\d+: )?/,
      '',
    )
}
