import type { Writable } from 'node:stream'
import { Command, type Redis } from 'ioredis'
import { perObject } from '../../util/per-object'
import { nextTick } from '../../util/timers'
import { withoutPromise } from '../connect/ioredis-internals'

/**
 * What RESP has between words, before one of so many bytes. Made once for the usual lengths, because strings
 * are most of the cost.
 */
const BETWEEN = Array.from({ length: 128 }, (_, bytes) => between(bytes))

function between(bytes: number): string {
  return `\r\n$${bytes}\r\n`
}

/**
 * The next word in RESP. A cache of whole words would cost more than this, most of all in a young process.
 */
function next(word: string | number): string {
  const text = String(word)
  const bytes = Buffer.byteLength(text)
  return (BETWEEN[bytes] ?? between(bytes)) + text
}

/** The first two words of the call of each script by its digest. */
const calls = new Map<string, string>()

/** The bytes of a call of a script in RESP. */
function encode(
  how: 'eval' | 'evalsha',
  script: string,
  keys: readonly string[],
  args: readonly (string | number)[],
): string {
  let call = calls.get(script)
  if (call === undefined) {
    // Joined, and so one string. What is added up stays a tree of strings, which each write would have to
    // walk through.
    call = [next(how), next(script)].join('')
    if (how === 'evalsha') calls.set(script, call)
  }
  let bytes = `*${3 + keys.length + args.length}${call}${next(keys.length)}`
  for (const key of keys) bytes += next(key)
  for (const arg of args) bytes += next(arg)
  return `${bytes}\r\n`
}

/**
 * The most commands in one write. It is bounded, so that the server can work while the client makes the next
 * commands.
 */
const TOGETHER = 16

/** The commands that were written to one stream in this tick of the event loop. */
class WriteBatch {
  private commands = 0

  constructor(private readonly stream: Writable) {}

  /** A command is about to be written: the first one of the tick at once, the others in groups. */
  add(): void {
    const earlier = this.commands++
    if (earlier === 0) return nextTick(this.end)
    const beginsGroup = (earlier - 1) % TOGETHER === 0
    if (!beginsGroup) return
    const followsGroup = earlier > 1
    if (followsGroup) this.stream.uncork()
    this.stream.cork()
  }

  private readonly end = () => {
    const hasGroup = this.commands > 1
    this.commands = 0
    if (hasGroup) this.stream.uncork()
  }
}

/**
 * Puts all commands of one tick of the event loop into one write, except the first: a single caller must not
 * wait for others. A system call for each command would be most of the cost of many concurrent callers.
 */
const batchOf = perObject((stream: Writable) => new WriteBatch(stream))

const NO_ARGUMENTS: string[] = []
const NO_OPTIONS = {}

/**
 * A command of ioredis that has its bytes already. With commands that ioredis encodes, and writes that are
 * coalesced as here, 64 callers of 64 locks do 0.82 (0.79 to 0.86) of the cycles and use 1.31 times the CPU;
 * 64 callers of one lock do 0.93, one caller does 0.97 (`npm run bench:turns`, 8 rounds, Node 20, 2 cores,
 * 2026-11-28). `rawCommandsWork` finds out whether the installed ioredis carries it. It calls back in the
 * tick in which the answer arrives, which is text, a number, or an array of these.
 */
export class RawCommand extends Command {
  private readonly bytes: string
  private writes = 0

  constructor(
    how: 'eval' | 'evalsha',
    script: string,
    private readonly scriptKeys: readonly string[],
    args: readonly (string | number)[],
    answered: Answered,
    failed: (error: unknown) => void,
  ) {
    // Without arguments, which ioredis would copy and convert.
    super(how, NO_ARGUMENTS, NO_OPTIONS)
    this.bytes = encode(how, script, scriptKeys, args)
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
    batchOf(stream as Writable).add()
    this.writes++
    return this.bytes
  }

  /** The Cluster of ioredis finds the node by the first of these keys. */
  override getKeys(): string[] {
    return this.scriptKeys as string[]
  }
}

withoutPromise(RawCommand)

class RawPing extends RawCommand {
  override toWritable(): string {
    return '*1\r\n$4\r\nping\r\n'
  }
}

/** Numbers and nil, the usual answers of scripts, stay as they are. ioredis gives texts as bytes. */
function decoded(value: unknown): unknown {
  if (value instanceof Buffer) return value.toString()
  return Array.isArray(value) ? value.map(decoded) : value
}

/**
 * Receives an answer. `wasRedirected`: the first node of a cluster that got the command did not answer it,
 * but another one.
 */
export type Answered = (value: unknown, wasRedirected?: boolean) => void

/**
 * Whether the installed ioredis carries raw commands: sends a raw PING and an ordinary one behind it. When
 * the ordinary one is answered, the raw one must have been answered, too.
 */
export async function rawCommandsWork(redis: Redis): Promise<boolean> {
  let answered = false
  const note = () => {
    answered = true
  }
  try {
    redis.sendCommand(new RawPing('evalsha', 'none', [], [], note, note))
  } catch {
    return false
  }
  // A PING that the server refuses is answered, too.
  await redis.ping().catch(() => {})
  return answered
}
