import { Command, type Redis } from 'ioredis'

function bulk(word: string | number): string {
  const text = typeof word === 'string' ? word : String(word)
  return `$${Buffer.byteLength(text)}\r\n${text}\r\n`
}

/** By hash; there are as many as there are scripts. */
const heads = new Map<string, string>()

function headOf(how: 'eval' | 'evalsha', script: string): string {
  if (how === 'eval') return bulk(how) + bulk(script)
  let head = heads.get(script)
  if (head === undefined) {
    head = bulk(how) + bulk(script)
    heads.set(script, head)
  }
  return head
}

/** The bytes of a call of a script in RESP. */
function encode(
  how: 'eval' | 'evalsha',
  script: string,
  keys: readonly string[],
  args: readonly (string | number)[],
): string {
  let bytes = `*${3 + keys.length + args.length}\r\n${headOf(how, script)}${bulk(keys.length)}`
  for (const key of keys) bytes += bulk(key)
  for (const arg of args) bytes += bulk(arg)
  return bytes
}

/**
 * A command that ioredis queues, resends and answers like its own, made in a fraction of the time: a lock in an
 * undisturbed cycle spends more on ioredis making two commands than on everything that is ours.
 *
 * It has the fields of a Command and its methods, but not its constructor. Whether that will do for the ioredis
 * which is installed is found out by `quickCommandsWork`, not assumed.
 */
class QuickCommand {
  readonly isTraced = true
  readonly inTransaction = false
  readonly transformed = true
  readonly replyEncoding = 'utf8'
  readonly errorStack = undefined
  readonly keys: string[] = []
  isResolved = false
  isSettled = false
  protocol = 2
  replyMapping = 'legacy'
  /** ioredis hands it back to whoever sends the command. */
  readonly promise = undefined

  constructor(
    readonly name: string,
    readonly args: readonly (string | number)[],
    private readonly bytes: string,
    private readonly answered: (value: unknown) => void,
    private readonly failed: (error: unknown) => void,
  ) {}

  resolve(value: unknown): void {
    if (this.isSettled) return
    this.isResolved = this.isSettled = true
    // Numbers and nil, which is what scripts answer as a rule, are what they are.
    this.answered(typeof value === 'object' && value !== null ? asCommand(this).transformReply(value) : value)
  }

  reject(error: unknown): void {
    if (this.isSettled) return
    this.isSettled = true
    this.failed(error)
  }

  toWritable(): string {
    return this.bytes
  }

  getKeys(): string[] {
    return this.keys
  }
}
Object.setPrototypeOf(QuickCommand.prototype, Command.prototype)

interface ReplyTransformer {
  transformReply(value: unknown): unknown
}
const asCommand = (command: QuickCommand) => command as unknown as Command & ReplyTransformer

/** Sends a script whose answer is text, a number, or an array of these; calls back in the turn in which that comes. */
export function sendScript(
  redis: Redis,
  how: 'eval' | 'evalsha',
  script: string,
  keys: readonly string[],
  args: readonly (string | number)[],
  answered: (value: unknown) => void,
  failed: (error: unknown) => void,
): void {
  redis.sendCommand(asCommand(new QuickCommand(how, args, encode(how, script, keys, args), answered, failed)))
}

/** Whether the installed ioredis carries such commands: asks the server something, and in the ordinary way behind it. */
export async function quickCommandsWork(redis: Redis): Promise<boolean> {
  let answered = false
  const note = () => {
    answered = true
  }
  try {
    redis.sendCommand(asCommand(new QuickCommand('ping', [], '*1\r\n$4\r\nping\r\n', note, note)))
  } catch {
    return false
  }
  // Refused, it is answered all the same.
  await redis.ping().catch(() => {})
  return answered
}

/** So many commands go in one write, so that the server has something to do while the next are being made. */
const TOGETHER = 16

/**
 * Writes what is sent in one turn of the event loop together, but for the first: a system call for each command is
 * most of what many flows at once cost, and one flow alone is not to wait for others.
 */
export class WriteTogether {
  private corked: Redis['stream'] | undefined
  private commands = 0

  constructor(private readonly redis: Redis) {}

  /** A command is about to be sent. */
  add(): void {
    if (this.commands === 0) process.nextTick(this.endTurn)
    else if (this.commands % TOGETHER === 1) this.cork()
    this.commands++
  }

  private cork() {
    this.corked?.uncork()
    this.corked = this.redis.stream
    this.corked?.cork()
  }

  private readonly endTurn = () => {
    this.commands = 0
    this.corked?.uncork()
    this.corked = undefined
  }
}
