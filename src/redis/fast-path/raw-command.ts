import type { Writable } from 'node:stream'
import { type Cluster, Command, type Redis } from 'ioredis'
import { withoutPromise } from '../ioredis-internals'
import { coalesceWrites } from './write-coalescing'

/** A word in RESP. A cache of words would cost more than this, most of all in a young process. */
function bulk(word: string | number): string {
  const text = String(word)
  return `$${Buffer.byteLength(text)}\r\n${text}\r\n`
}

const NAMES = { eval: bulk('eval'), evalsha: bulk('evalsha') }

/** The bytes of a call of a script in RESP. */
function encode(
  how: 'eval' | 'evalsha',
  script: string,
  keys: readonly string[],
  args: readonly (string | number)[],
): string {
  let bytes = `*${3 + keys.length + args.length}\r\n${NAMES[how]}${bulk(script)}${bulk(keys.length)}`
  for (const key of keys) bytes += bulk(key)
  for (const arg of args) bytes += bulk(arg)
  return bytes
}

const NO_ARGUMENTS: string[] = []
const NO_OPTIONS = {}

/**
 * A command of ioredis that has its bytes already. The encoding by ioredis, and its search for keys and its promises, would
 * cost more than all other code of this package. `rawCommandsWork` finds out whether the installed ioredis carries it.
 */
class RawCommand extends Command {
  private writes = 0

  constructor(
    name: string,
    private readonly scriptKeys: readonly string[],
    args: readonly (string | number)[],
    private readonly bytes: string,
    answered: Answered,
    failed: (error: unknown) => void,
  ) {
    // Without arguments, which ioredis would copy and convert.
    super(name, NO_ARGUMENTS, NO_OPTIONS)
    this.args = args as (string | number)[]
    this.isTraced = true
    // Own properties, as in ioredis: tracing libraries read them and call them without the command.
    this.resolve = (value) => {
      if (this.isSettled) return
      this.isResolved = this.isSettled = true
      answered(decoded(value), this.writes > 1)
    }
    this.reject = (error) => {
      if (this.isSettled) return
      this.isSettled = true
      failed(error)
    }
  }

  /** ioredis calls this each time it writes the command to a server. */
  override toWritable(stream: object): string {
    coalesceWrites(stream as Writable)
    this.writes++
    return this.bytes
  }

  /** The Cluster of ioredis finds the node by the first of these keys. */
  override getKeys(): string[] {
    return this.scriptKeys as string[]
  }
}

withoutPromise(RawCommand)

/** Numbers and nil, the usual answers of scripts, stay as they are. ioredis gives texts as bytes. */
function decoded(value: unknown): unknown {
  if (value instanceof Buffer) return value.toString()
  return Array.isArray(value) ? value.map(decoded) : value
}

/** Receives an answer. `wasRedirected`: the first node of a cluster that got the command did not answer it, but another one. */
export type Answered = (value: unknown, wasRedirected?: boolean) => void

/** Sends a script whose answer is text, a number, or an array of these. Calls back in the tick in which the answer arrives. */
export function sendRawScript(
  redis: Redis | Cluster,
  how: 'eval' | 'evalsha',
  script: string,
  keys: readonly string[],
  args: readonly (string | number)[],
  answered: Answered,
  failed: (error: unknown) => void,
): void {
  const bytes = encode(how, script, keys, args)
  redis.sendCommand(new RawCommand(how, keys, args, bytes, answered, failed))
}

/**
 * Whether the installed ioredis carries raw commands: sends a raw PING and an ordinary PING behind it. When the ordinary
 * one is answered, the raw one must have been answered, too.
 */
export async function rawCommandsWork(redis: Redis): Promise<boolean> {
  let answered = false
  const note = () => {
    answered = true
  }
  try {
    redis.sendCommand(new RawCommand('ping', [], [], '*1\r\n$4\r\nping\r\n', note, note))
  } catch {
    return false
  }
  // A PING that the server refuses is answered, too.
  await redis.ping().catch(() => {})
  return answered
}
