import { createHash } from 'node:crypto'
import { toBytes, toReply } from './bytes'
import { malformed, runCommand, runWellFormed } from './data/commands'
import { Keyspace, OK, type Reply, ReplyError } from './data/keyspace'
import { glob } from './data/numbers'
import { type ScriptMachine, scriptMachine } from './lua/script-machine'

/** What the engine asks of the server around it. Channels and messages have a character for each byte. */
export interface EngineHost {
  /** The time by the server's clock, in ms. */
  readonly time: number
  /** The names of the subscribed channels, for each connection. */
  subscriptions(): Iterable<ReadonlySet<string> | ReadonlyMap<string, unknown>>
  /** Sends the message to the subscribers of the channel. Answers how many there are. */
  publish(channel: string, message: string): number
  /** A command is about to run, by itself or in a script. Throws ReplyError to refuse it. */
  beforeCommand?(name: string, words: readonly string[], inScript: boolean): void
}

const sha1 = (bytes: string) => createHash('sha1').update(bytes, 'latin1').digest('hex')

/** Scripts that were sent by their sources: the machine keeps each of them as well. */
const KNOWN = new Map<string, { readonly bytes: string; readonly sha: string }>()

/** The keys and the scripts of an in-memory server. It runs each command at once; connections are the matter of its host. */
export class Engine {
  /** By their hashes; a character for each byte. */
  private readonly scripts = new Map<string, string>()
  /** How many scripts the server has run. */
  scriptCalls = 0

  constructor(
    private readonly host: EngineHost,
    /** Loaded with the first client, if it is not given. */
    private machine?: ScriptMachine,
    readonly keyspace = new Keyspace(),
  ) {}

  /** Loads the Lua machine, once. */
  async load(): Promise<void> {
    this.machine ??= await scriptMachine()
  }

  /** Runs a script by its hash; throws ReplyError. */
  evaluateBySha(sha: string, keys: readonly string[], args: readonly string[]): Reply {
    return this.runScript(this.sourceOf(sha), keys.map(toBytes), args.map(toBytes))
  }

  /** Runs a script and remembers it; throws ReplyError. */
  evaluate(source: string, keys: readonly string[], args: readonly string[]): Reply {
    let known = KNOWN.get(source)
    if (!known) {
      const bytes = toBytes(source)
      known = { bytes, sha: sha1(bytes) }
      KNOWN.set(source, known)
    }
    const { bytes, sha } = known
    this.scripts.set(sha, bytes)
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
    this.keyspace.time = this.host.time
    this.host.beforeCommand?.(command, words, false)
    return this.run(command, words)
  }

  /** Returns the hash. */
  private remember(source: string): string {
    const sha = sha1(source)
    this.scripts.set(sha, source)
    return sha
  }

  private sourceOf(sha: string): string {
    const source = this.scripts.get(sha)
    if (source === undefined) throw new ReplyError('NOSCRIPT No matching script. Please use EVAL.')
    return source
  }

  private runScript(source: string, keys: readonly string[], args: readonly string[]): Reply {
    this.keyspace.time = this.host.time
    if (!this.machine) throw new Error('scripts run once a client has connected')
    this.scriptCalls++
    return this.machine.run(source, keys, args, this.inScript)
  }

  private readonly inScript = (name: string, words: readonly string[]): Reply => {
    this.host.beforeCommand?.(name, words, true)
    if (name === 'publish' || name === 'spublish') return this.run(name, words)
    const wrong = malformed(name, words)
    if (wrong === 'unknown command') throw new ReplyError('ERR Unknown Redis command called from script')
    if (wrong) throw new ReplyError('ERR Wrong number of args calling Redis command from script')
    return runWellFormed(this.keyspace, name, words)
  }

  private run(name: string, words: readonly string[]): Reply {
    const [first = '', second = '', ...others] = words
    if ((name === 'publish' || name === 'spublish') && words.length === 2)
      return this.host.publish(first, second)
    if (name === 'pubsub' && /^(shard)?numsub$/i.test(first))
      return words.slice(1).flatMap((channel) => [channel, this.listenersTo(channel)])
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
    const names = new Set([...this.host.subscriptions()].flatMap((channels) => [...channels.keys()]))
    return [...names].filter((channel) => matches.test(channel))
  }

  private listenersTo(channel: string): number {
    return [...this.host.subscriptions()].filter((channels) => channels.has(channel)).length
  }
}
