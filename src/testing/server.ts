import { createHash, randomUUID } from 'node:crypto'
import { outsideRequests } from '../util/async-context'
import { setImmediate } from '../util/timers'
import { toBytes, toReply } from './bytes'
import { malformed, runCommand } from './data/commands'
import { glob } from './data/glob'
import { Keyspace } from './data/keyspace'
import { OK, type Reply, ReplyError } from './data/reply'
import { type ScriptMachine, scriptMachine } from './lua/script-machine'
import type { ServerClock } from './server-clock'

/** The connection of a client, as the server knows it. */
export interface Peer {
  /** The channels that it is subscribed to, and what takes their messages; with a character for each byte. */
  readonly subscribed: ReadonlyMap<string, (message: string) => void>
  answered(request: Request): void
  reconnected(): void
  cut(): void
}

/** A command on its way to the server, or its reply on the way back. */
export interface Request {
  readonly link: Peer
  readonly isScript: boolean
  /** Whether its connection broke. */
  isOver: boolean
  execute(): unknown
  answered(value: unknown): void
  failed(error: unknown): void
}

/** How many ticks without a command the server waits, because code of a test may need some ticks after a reply. */
const TICKS_TO_SETTLE = 10
const MOST_TICKS = 10_000

/** The in-memory server. It executes commands in one tick, in order, and answers them in the next. */
export class InMemoryServer {
  /** The run id, as of a real server. By it multi locks recognise that two clients have one server. */
  readonly runId = randomUUID()
  readonly links = new Set<Peer>()
  private readonly keyspace = new Keyspace()
  /** By their hashes; a character for each byte. */
  private readonly scripts = new Map<string, string>()
  private incoming: Request[] = []
  private outgoing: (() => void)[] = []
  private isScheduled = false
  isPaused = false
  /** How many scripts the server has run. */
  scriptCalls = 0
  /** The Lua machine; loaded with the first client. */
  private machine: ScriptMachine | undefined
  private whenResumed: (() => void)[] = []
  private losesNextReply = false

  constructor(private readonly clock: ServerClock) {}

  /** Loads the Lua machine; rejects if it is not installed. */
  async load(): Promise<void> {
    this.machine ??= await scriptMachine()
  }

  submit(request: Request): void {
    this.incoming.push(request)
    this.schedule()
  }

  reconnect(link: Peer): void {
    this.outgoing.push(() => link.reconnected())
    this.schedule()
  }

  /** Runs a script by its hash; throws ReplyError. */
  evaluateBySha(sha: string, keys: readonly string[], args: readonly string[]): Reply {
    return this.runScript(this.sourceOf(sha), keys.map(toBytes), args.map(toBytes))
  }

  /** Runs a script and remembers it; throws ReplyError. */
  evaluate(source: string, keys: readonly string[], args: readonly string[]): Reply {
    const bytes = toBytes(source)
    this.remember(bytes)
    return this.runScript(bytes, keys.map(toBytes), args.map(toBytes))
  }

  /** Runs a command of a test; throws ReplyError. */
  call(name: string, words: readonly string[]): unknown {
    return toReply(this.callBytes(name, words.map(toBytes)))
  }

  /** The same, with a character for each byte in the words and in the reply. */
  callBytes(name: string, words: readonly string[]): Reply {
    const command = name.toLowerCase()
    if (command === 'eval' || command === 'evalsha') {
      const [script = '', count, ...others] = words
      if (command === 'eval') this.remember(script)
      const source = command === 'eval' ? script : this.sourceOf(script)
      const keys = others.slice(0, Number(count))
      return this.runScript(source, keys, others.slice(keys.length))
    }
    this.keyspace.time = this.clock.time
    return this.run(command, words)
  }

  /** Returns the hash. */
  private remember(source: string): string {
    const sha = createHash('sha1').update(source, 'latin1').digest('hex')
    this.scripts.set(sha, source)
    return sha
  }

  private sourceOf(sha: string): string {
    const source = this.scripts.get(sha)
    if (source === undefined) throw new ReplyError('NOSCRIPT No matching script. Please use EVAL.')
    return source
  }

  private runScript(source: string, keys: readonly string[], args: readonly string[]): Reply {
    this.keyspace.time = this.clock.time
    if (!this.machine) throw new Error('scripts run once a client has connected')
    this.scriptCalls++
    return this.machine.run(source, keys, args, (name, words) => this.inScript(name, words))
  }

  loseNextReply(): void {
    this.losesNextReply = true
  }

  pause(): void {
    this.isPaused = true
  }

  resume(): void {
    this.isPaused = false
    for (const resumed of this.whenResumed.splice(0)) resumed()
    this.schedule()
  }

  async resumed(): Promise<void> {
    if (this.isPaused) await new Promise<void>((resolve) => this.whenResumed.push(resolve))
  }

  /** Resolves when no command has been in flight for some ticks of the event loop. A paused server counts as idle. */
  async settled(): Promise<void> {
    for (let [quiet, ticks] = [0, 0]; quiet < TICKS_TO_SETTLE && ticks < MOST_TICKS; ticks++) {
      await new Promise<void>((resolve) => setImmediate(() => resolve()))
      const isQuiet = this.isPaused || (this.incoming.length === 0 && this.outgoing.length === 0)
      quiet = isQuiet ? quiet + 1 : 0
    }
  }

  private inScript(name: string, words: readonly string[]): Reply {
    if (name === 'publish' || name === 'spublish') return this.run(name, words)
    const wrong = malformed(name, words)
    if (wrong === 'unknown command') throw new ReplyError('ERR Unknown Redis command called from script')
    if (wrong) throw new ReplyError('ERR Wrong number of args calling Redis command from script')
    return this.run(name, words)
  }

  private run(name: string, words: readonly string[]): Reply {
    const [first = '', second = '', ...others] = words
    if ((name === 'publish' || name === 'spublish') && words.length === 2) return this.publish(first, second)
    if (name === 'pubsub' && /^(shard)?numsub$/i.test(first))
      return words.slice(1).flatMap((channel) => [channel, this.listenersTo(channel).length])
    if (name === 'pubsub' && /^(shard)?channels$/i.test(first)) return this.channels(second || '*')
    if (name === 'script' && /^load$/i.test(first) && words.length === 2) return this.remember(second)
    if (name === 'script' && /^flush$/i.test(first) && others.length === 0) {
      this.scripts.clear()
      return OK
    }
    return runCommand(this.keyspace, name, words)
  }

  private channels(pattern: string): string[] {
    const matches = glob(pattern)
    const names = new Set([...this.links].flatMap(({ subscribed }) => [...subscribed.keys()]))
    return [...names].filter((channel) => matches.test(channel))
  }

  private listenersTo(channel: string): Peer[] {
    return [...this.links].filter(({ subscribed }) => subscribed.has(channel))
  }

  private publish(channel: string, message: string): number {
    const listeners = this.listenersTo(channel)
    for (const link of listeners) this.outgoing.push(() => link.subscribed.get(channel)?.(message))
    if (listeners.length > 0) this.schedule()
    return listeners.length
  }

  private schedule() {
    if (this.isScheduled || this.isPaused) return
    this.isScheduled = true
    outsideRequests(setImmediate, () => {
      this.isScheduled = false
      if (!this.isPaused) this.tick()
    })
  }

  private tick() {
    const [outgoing, incoming] = [this.outgoing, this.incoming]
    this.outgoing = []
    this.incoming = []
    // Executed first, so that their answers come in a later tick.
    for (const request of incoming) if (!request.isOver) this.execute(request)
    for (const deliver of outgoing) deliver()
    if (this.outgoing.length > 0 || this.incoming.length > 0) this.schedule()
  }

  private execute(request: Request) {
    const reply = this.replyTo(request)
    if (request.isScript && this.losesNextReply) {
      this.losesNextReply = false
      return request.link.cut()
    }
    this.outgoing.push(() => {
      if (request.isOver) return
      request.link.answered(request)
      reply()
    })
  }

  private replyTo(request: Request): () => void {
    try {
      const value = request.execute()
      return () => request.answered(value)
    } catch (error) {
      return () => request.failed(error)
    }
  }
}
