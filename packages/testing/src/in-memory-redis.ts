import { type InProcessServer, RedisUnavailableError } from 'rlock'
import {
  type ConnectedClient,
  type Connections,
  checkOptions,
  IN_PROCESS_SERVER,
  outsideRequests,
  type Server,
  withTimeout,
} from 'rlock/internal'
import { openConnections } from './connections'
import { checkTimers } from './real-timers'
import { InMemoryServer } from './server'
import { ServerClock } from './server-clock'

/** Options of `inMemoryRedis()`. */
export interface InMemoryRedisOptions {
  /**
   * The time in ms, for tests with a clock of their own: `() => Date.now()` under fake timers, or `() => 0` for a time that
   * changes only by `advance()`. Default: the real time.
   */
  now?: (() => number) | undefined
}

/**
 * A Redis inside this process, for tests. Pass it to `Redisson.create({ redis })`, for any number of clients. It runs the
 * scripts of the locks in Lua 5.1, as Redis does. Its clients use its clock for leases, renewals and waits.
 */
export interface InMemoryRedis extends InProcessServer {
  /**
   * Advances the time by this many ms, for keys and clients. Runs the timers in their order, and waits for the commands that
   * they cause, so that renewals come in time. Rejects with RangeError for a negative number.
   */
  advance(ms: number): Promise<void>
  /** The names of all keys. */
  keys(): string[]
  /** Runs a command and returns its reply as ioredis does: `call('PTTL', 'order')`. Throws the server's error. */
  call(command: string, ...args: (string | number)[]): unknown
  /** Deletes all keys, as FLUSHALL does. */
  flush(): void
  /** Loses the next reply: the server executes the next script of any client, and the connection breaks before the reply. */
  loseNextReply(): void
  /** Breaks the connections of all clients. They reconnect at once. */
  cut(): void
  /** Pauses the server: it executes and answers nothing until `resume()`. */
  pause(): void
  /** Ends the pause. The server executes the commands that arrived since. */
  resume(): void
}

const CONNECT_TIMEOUT = 10_000

/**
 * Creates an in-memory server without keys. Throws TypeError for invalid options.
 */
export function inMemoryRedis(options: InMemoryRedisOptions = {}): InMemoryRedis {
  return new InMemory(options)
}

/** What is behind it, for a port of the tests of this package. Not part of the API. */
export function serverOf(redis: InMemoryRedis): InMemoryServer {
  return (redis as InMemory).server
}

function pairsOf(list: readonly string[]): Record<string, string> {
  return Object.fromEntries(list.flatMap((name, at) => (at % 2 === 0 ? [[name, list[at + 1]!]] : [])))
}

class InMemory implements InMemoryRedis {
  readonly [IN_PROCESS_SERVER]: Server
  private readonly clock: ServerClock
  readonly server: InMemoryServer
  private advanced: Promise<void> = Promise.resolve()

  constructor(options: InMemoryRedisOptions) {
    checkOptions(options, ['now'])
    const { now } = options
    if (now !== undefined && typeof now !== 'function')
      throw new TypeError('now must be a function that returns the time in ms')
    this.clock = new ServerClock(now)
    this.server = new InMemoryServer(this.clock)
    this[IN_PROCESS_SERVER] = {
      clock: this.clock,
      address: 'in memory',
      secrets: [],
      connect: (client) => this.connect(client),
    }
  }

  private async connect(client: ConnectedClient): Promise<Connections> {
    await checkTimers()
    await withTimeout(this.server.resumed(), CONNECT_TIMEOUT, this.clock, () => {
      throw new RedisUnavailableError('The in-memory Redis could not be reached: it is paused')
    })
    await this.server.engine.load()
    return openConnections(this.server, client)
  }

  async advance(ms: number): Promise<void> {
    if (typeof ms !== 'number') throw new TypeError('advance expects a number of ms')
    if (!(ms >= 0 && ms <= Number.MAX_SAFE_INTEGER))
      throw new RangeError(`advance expects 0 ms or more, got ${ms}`)
    const before = this.advanced
    this.advanced = (async () => {
      await before
      await this.clock.advance(ms, () => this.server.settled())
    })()
    await this.advanced
  }

  keys(): string[] {
    return this.call('KEYS', '*') as string[]
  }

  call(command: string, ...args: (string | number)[]): unknown {
    const reply = this.server.engine.call(command, args.map(String))
    // In ioredis, call('hgetall') gives an object, and call('HGETALL') a list.
    return command === 'hgetall' ? pairsOf(reply as string[]) : reply
  }

  flush(): void {
    this.call('FLUSHALL')
  }

  loseNextReply(): void {
    this.server.loseNextReply()
  }

  cut(): void {
    outsideRequests(() => {
      for (const link of this.server.links) link.cut()
    })
  }

  pause(): void {
    this.server.pause()
  }

  resume(): void {
    this.server.resume()
  }
}
