import { Command, type Redis } from 'ioredis'

/** The bytes of a command in RESP. */
function encode(words: readonly (string | number)[]): string {
  let bytes = `*${words.length}\r\n`
  for (const word of words) {
    const text = typeof word === 'string' ? word : String(word)
    bytes += `$${Buffer.byteLength(text)}\r\n${text}\r\n`
  }
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
  readonly promise: Promise<unknown>
  resolve!: (value: unknown) => void
  reject!: (error: unknown) => void

  constructor(
    readonly name: string,
    readonly args: readonly (string | number)[],
    private readonly bytes: string,
  ) {
    this.promise = new Promise((resolve, reject) => {
      this.resolve = (value) => {
        this.isResolved = this.isSettled = true
        // Numbers and nil, which is what scripts answer as a rule, are what they are.
        resolve(typeof value === 'object' && value !== null ? asCommand(this).transformReply(value) : value)
      }
      this.reject = (error) => {
        this.isSettled = true
        reject(error)
      }
    })
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

/** Sends a command whose answer is text, a number, or an array of these. */
export function sendQuickly(
  redis: Redis,
  name: string,
  args: readonly (string | number)[],
): Promise<unknown> {
  return redis.sendCommand(
    asCommand(new QuickCommand(name, args, encode([name, ...args]))),
  ) as Promise<unknown>
}

/** Whether the installed ioredis carries such commands: asks the server something, and in the ordinary way behind it. */
export async function quickCommandsWork(redis: Redis): Promise<boolean> {
  let answered = false
  const note = () => {
    answered = true
  }
  try {
    sendQuickly(redis, 'ping', []).then(note, note)
  } catch {
    return false
  }
  // Refused, it is answered all the same.
  await redis.ping().catch(() => {})
  return answered
}

const corked = new WeakSet<Redis['stream']>()

/**
 * What is written to the server in this turn of the event loop goes there in one piece: a system call for each command
 * is most of what many flows at once cost.
 */
export function writeTogether(redis: Redis): void {
  const { stream } = redis
  if (!stream || corked.has(stream)) return
  corked.add(stream)
  stream.cork()
  process.nextTick(() => {
    corked.delete(stream)
    stream.uncork()
  })
}
