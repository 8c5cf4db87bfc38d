import { parseArgs } from 'node:util'
import { Redisson, type RedissonOptions } from 'rlock'
import { type Ended, type Running, runChild, signalNumber } from '../exec/child'
import { type Held, holdOf, type Taking, taking } from '../exec/held'
import { EXIT, exitCodeOf, UsageError } from '../exit'
import { CONNECTION_OPTIONS, redissonOptions, refuseUrl } from '../target'
import { complain, safe } from '../terminal'
import { help } from './session'

const USAGE = `
usage: rlock exec NAME [options] -- command [arguments]

Runs a command while it holds the lock. The lock is renewed until the command ends.

  --wait TIME      gives up after this time: exit code 75. Without it, it waits without limit; 0s tries once
  --lease TIME     the lock is not renewed and is lost at the end of this time
  --max-hold TIME  the lock is renewed for this time at most, and is lost then; a crash frees it sooner
  --read           takes the read side of a read-write lock
  --permits N      at most N commands run at once, with permits of an expirable semaphore
  --fair           takes a fair lock
  --fenced         takes a fenced lock; its token is in RLOCK_TOKEN
  --at-least TIME  once a tick on many hosts: tries once, and the lock stays held for this time
  --grace TIME     after SIGTERM the command has this long before SIGKILL; 5s

Exit codes: that of the command, 128 + n where signal n ended it; 75 not acquired; 76 the lock was lost;
69 the server cannot be reached; 126, 127 the command cannot be run; 2 wrong usage.`

/** While it waits, these end it. While the command runs, they are passed on. */
const PASSED_ON = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'] as const

export async function run(args: string[]): Promise<number> {
  const dashes = args.indexOf('--')
  const { values, positionals } = parseArgs({
    args: dashes < 0 ? args : args.slice(0, dashes),
    allowPositionals: true,
    options: {
      ...CONNECTION_OPTIONS,
      wait: { type: 'string' },
      lease: { type: 'string' },
      'max-hold': { type: 'string' },
      read: { type: 'boolean' },
      permits: { type: 'string' },
      fair: { type: 'boolean' },
      fenced: { type: 'boolean' },
      'at-least': { type: 'string' },
      grace: { type: 'string' },
    },
  })
  if (values.help) return help(USAGE)
  const command = dashes < 0 ? [] : args.slice(dashes + 1)
  const [name, ...others] = positionals
  if (!name || others.length > 0 || command.length === 0)
    throw new UsageError('exec takes one name, and the command after --: rlock exec NAME -- command')
  refuseUrl('the name', name)
  return await execute(redissonOptions(values), taking(name, values), command)
}

async function execute(
  options: RedissonOptions,
  wanted: Taking,
  command: readonly string[],
): Promise<number> {
  const signals = new SignalRelay()
  try {
    const client = await signals.orEnded(Redisson.create(options))
    // Nothing is held yet, and what is being opened closes with this process.
    if (!client) process.exit(signals.exitCode)
    // What goes wrong in the background is said, and the lock itself says what it means for the command.
    client.on('error', (error) => complain(error.message))
    try {
      return await whileHeld(client, wanted, command, signals)
    } finally {
      await client.shutdown({ timeout: 1_000 })
    }
  } catch (error) {
    if (signals.ended !== undefined) return signals.exitCode
    complain((error as Error).message)
    return exitCodeOf(error)
  } finally {
    signals.stop()
  }
}

async function whileHeld(
  client: Redisson,
  wanted: Taking,
  command: readonly string[],
  signals: SignalRelay,
): Promise<number> {
  const result = await holdOf(client, wanted, signals.waiting.signal, async (held: Held) => {
    const env: NodeJS.ProcessEnv = { ...process.env, RLOCK_NAME: wanted.name }
    // Around it may be an rlock exec of another lock, and its token is none of this lock.
    delete env.RLOCK_TOKEN
    if (held.token !== undefined) env.RLOCK_TOKEN = String(held.token)
    const child = runChild(command, env, held.signal, wanted.grace)
    signals.passTo(child)
    return await child.ended
  })
  if (!result) {
    complain(`${safe(wanted.name)} was not acquired`)
    return EXIT.notAcquired
  }
  if (result.unanswered) complain(`the release was not answered: ${result.unanswered.message}`)
  if (result.lost) {
    complain(`${safe(wanted.name)} was lost while the command ran`)
    return EXIT.lost
  }
  return codeOf(result.ended)
}

function codeOf({ code, signal, failed }: Ended): number {
  if (failed) {
    complain(`the command cannot be run: ${failed.code ?? failed.message}`)
    return failed.code === 'ENOENT' ? 127 : 126
  }
  return signal ? 128 + signalNumber(signal) : (code ?? EXIT.found)
}

/** Takes the signals of this process: first they end the wait, then they go to the command. */
class SignalRelay {
  readonly waiting = new AbortController()
  /** The signal that ended the wait. */
  ended: NodeJS.Signals | undefined
  private child: Running | undefined
  private readonly heard = (signal: NodeJS.Signals) => {
    if (this.child) {
      const hasIt = this.child.sharesTerminal && (signal === 'SIGINT' || signal === 'SIGQUIT')
      if (!hasIt) this.child.kill(signal)
    } else {
      this.ended ??= signal
      this.waiting.abort(new Error(`ended by ${signal}`))
    }
  }

  constructor() {
    for (const signal of PASSED_ON) process.on(signal, this.heard)
  }

  get exitCode(): number {
    return 128 + signalNumber(this.ended ?? 'SIGTERM')
  }

  /** The result; undefined if a signal ends this process first. */
  async orEnded<T>(result: Promise<T>): Promise<T | undefined> {
    const { signal } = this.waiting
    const ended = new Promise<undefined>((resolve) => {
      if (signal.aborted) resolve(undefined)
      signal.addEventListener('abort', () => resolve(undefined), { once: true })
    })
    return await Promise.race([result, ended])
  }

  passTo(child: Running): void {
    this.child = child
    // The signal came in the moment in which the lock was granted.
    if (this.ended) child.kill(this.ended)
  }

  stop(): void {
    for (const signal of PASSED_ON) process.off(signal, this.heard)
  }
}
