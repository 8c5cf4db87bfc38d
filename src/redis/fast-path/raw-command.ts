import type { Writable } from 'node:stream'
import { type Cluster, Command, type Redis } from 'ioredis'
import { coalesceWrites } from './write-coalescing'

function bulk(word: string): string {
  return `$${Buffer.byteLength(word)}\r\n${word}\r\n`
}

/** How many words each of the two generations has at most. */
const REMEMBERED = 500
/** Longer words are not remembered, so that they take no memory. */
const LONGEST_REMEMBERED = 200
let young = new Map<string, string>()
let old = new Map<string, string>()

/** Remembers the words of the last calls. Most of them come again soon: names of locks, leases, channels. */
function encodeWord(word: string | number): string {
  const text = typeof word === 'string' ? word : String(word)
  if (text.length > LONGEST_REMEMBERED) return bulk(text)
  let bytes = young.get(text)
  if (bytes !== undefined) return bytes
  bytes = old.get(text) ?? bulk(text)
  if (young.size >= REMEMBERED) {
    old = young
    young = new Map()
  }
  young.set(text, bytes)
  return bytes
}

const NAMES = { eval: bulk('eval'), evalsha: bulk('evalsha') }

/** The bytes of a call of a script in RESP. */
function encode(
  how: 'eval' | 'evalsha',
  script: string,
  keys: readonly string[],
  args: readonly (string | number)[],
): string {
  let bytes = `*${3 + keys.length + args.length}\r\n${NAMES[how]}${encodeWord(script)}${encodeWord(keys.length)}`
  for (const key of keys) bytes += encodeWord(key)
  for (const arg of args) bytes += encodeWord(arg)
  return bytes
}

/**
 * A command that ioredis queues, resends and answers like its own, but that is made in a fraction of the time. Without
 * contention, the constructors of ioredis for the two commands of a lock cost more than all code of this package.
 *
 * It has the fields and the methods of a Command, but does not run its constructor. `rawCommandsWork` finds out whether the
 * installed ioredis accepts that.
 */
class RawCommand {
  readonly isTraced = true
  readonly inTransaction = false
  readonly transformed = true
  readonly replyEncoding = 'utf8'
  readonly errorStack = undefined
  isResolved = false
  isSettled = false
  protocol = 2
  replyMapping = 'legacy'
  /** ioredis returns it to the sender of the command. */
  readonly promise = undefined

  constructor(
    readonly name: string,
    readonly keys: readonly string[],
    readonly args: readonly (string | number)[],
    private readonly bytes: string,
    private readonly answered: (value: unknown) => void,
    private readonly failed: (error: unknown) => void,
  ) {}

  // Own properties, as in ioredis: tracing libraries read them and call them without the command.
  readonly resolve = (value: unknown): void => {
    if (this.isSettled) return
    this.isResolved = this.isSettled = true
    // Numbers and nil, the usual answers of scripts, need no transformation.
    this.answered(typeof value === 'object' && value !== null ? asCommand(this).transformReply(value) : value)
  }

  readonly reject = (error: unknown): void => {
    if (this.isSettled) return
    this.isSettled = true
    this.failed(error)
  }

  /** ioredis calls this each time it writes the command to a server. */
  toWritable(stream: Writable): string {
    coalesceWrites(stream)
    return this.bytes
  }

  /** The Cluster of ioredis finds the node by the first of these keys. */
  getKeys(): readonly string[] {
    return this.keys
  }
}
Object.setPrototypeOf(RawCommand.prototype, Command.prototype)

interface ReplyTransformer {
  transformReply(value: unknown): unknown
}
const asCommand = (command: RawCommand) => command as unknown as Command & ReplyTransformer

/** Sends a script whose answer is text, a number, or an array of these. Calls back in the tick in which the answer arrives. */
export function sendRawScript(
  redis: Redis | Cluster,
  how: 'eval' | 'evalsha',
  script: string,
  keys: readonly string[],
  args: readonly (string | number)[],
  answered: (value: unknown) => void,
  failed: (error: unknown) => void,
): void {
  const bytes = encode(how, script, keys, args)
  redis.sendCommand(asCommand(new RawCommand(how, keys, args, bytes, answered, failed)))
}

/** In a cluster: the node that `rawCommandsWork` asks, and a slot of that node. */
export interface AskedNode {
  readonly node: Redis
  readonly slot: number
}

/**
 * Whether the installed ioredis carries raw commands: sends a raw PING and an ordinary PING behind it. When the ordinary
 * one is answered, the raw one must have been answered, too.
 */
export async function rawCommandsWork(redis: Redis | Cluster, asked?: AskedNode): Promise<boolean> {
  let answered = false
  const note = () => {
    answered = true
  }
  const raw = asCommand(new RawCommand('ping', [], [], '*1\r\n$4\r\nping\r\n', note, note))
  try {
    redis.sendCommand(asked ? Object.assign(raw, { slot: asked.slot }) : raw)
  } catch {
    return false
  }
  // A PING that the server refuses is answered, too.
  await (asked?.node ?? redis).ping().catch(() => {})
  return answered
}
