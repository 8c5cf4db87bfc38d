import { type ChildProcess, spawn } from 'node:child_process'
import { constants } from 'node:os'
import type { Writable } from 'node:stream'
import { isatty } from 'node:tty'

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  /** The command could not be started. */
  readonly failed?: NodeJS.ErrnoException
}

/** A longer timer of Node fires at once: 24 days. */
const LONGEST_TIMER = 2 ** 31 - 1

export const signalNumber = (signal: NodeJS.Signals): number => constants.signals[signal] ?? 0

/**
 * Whether the command gets a group of its own, so that a signal reaches the processes that it starts as well. On a terminal it
 * does not: it could not read from it, and Ctrl-C reaches all of them anyway.
 */
const hasGroup = () => process.platform !== 'win32' && ![0, 1, 2].some((stream) => isatty(stream))

export interface Running {
  readonly ended: Promise<Ended>
  readonly kill: (signal: NodeJS.Signals) => void
  /** A terminal sends Ctrl-C to the command as well as to this process. */
  readonly sharesTerminal: boolean
}

/**
 * Starts a command that uses this process's input and outputs directly. When the signal aborts, it gets SIGTERM, and SIGKILL
 * after the grace time.
 */
export function runChild(
  [command, ...args]: readonly string[],
  env: NodeJS.ProcessEnv,
  lost: AbortSignal,
  grace: number,
): Running {
  const detached = hasGroup()
  const start = () =>
    guard && passesShell(env)
      ? spawn('/bin/sh', ['-c', WHEN_GUARDED, 'rlock-exec', command!, ...args], {
          ...{ stdio: ['inherit', 'inherit', 'inherit', 'pipe'], env, detached },
        })
      : spawn(command!, args, { stdio: 'inherit', env, detached })
  let guard: ChildProcess | undefined
  let child: ChildProcess
  try {
    // The guard comes first: this process may be killed in any moment after the command has started.
    guard = newGuard(grace)
    child = start()
  } catch (error) {
    // Such as E2BIG: Node throws some errors of the system, and emits the others.
    guard?.stdin?.end('\n')
    const failed = error as NodeJS.ErrnoException
    const ended = Promise.resolve({ code: null, signal: null, failed })
    return { ended, kill: () => {}, sharesTerminal: false }
  }
  if (guard && child.pid !== undefined) {
    guard.stdin?.write(`${detached ? '-' : ''}${child.pid}\n`)
    const go = child.stdio[3] as Writable | undefined
    go?.on('error', () => {})
    go?.end('go\n')
  }
  const kill = (signal: NodeJS.Signals) => {
    if (child.pid === undefined) return
    try {
      process.kill(detached ? -child.pid : child.pid, signal)
    } catch {
      // It has ended.
    }
  }
  let killing: NodeJS.Timeout | undefined
  const terminate = () => {
    kill('SIGTERM')
    killing = setTimeout(() => kill('SIGKILL'), Math.min(grace, LONGEST_TIMER))
  }
  if (lost.aborted) terminate()
  else lost.addEventListener('abort', terminate, { once: true })
  const ended = new Promise<Ended>((resolve) => {
    child.once('error', (failed: NodeJS.ErrnoException) => {
      if (child.pid === undefined) resolve({ code: null, signal: null, failed })
    })
    child.once('exit', (code, signal) => resolve({ code, signal }))
  }).finally(() => {
    clearTimeout(killing)
    // What it has started must not go on without the lock.
    if (lost.aborted && detached) kill('SIGKILL')
    lost.removeEventListener('abort', terminate)
    guard?.stdin?.end('done\n')
  })
  return { ended, kill, sharesTerminal: !detached }
}

/**
 * Becomes the command once the guard knows the process id. Where this process is killed before that, its end of the pipe closes and the
 * command never runs.
 */
const WHEN_GUARDED = 'read -r go <&3 || exit; exec 3<&-; exec "$@"'

/**
 * Whether a shell hands all these variables on as they are. It drops names that are none of a shell, such as
 * `spring.data.redis.password`, and sets its own. With such a variable the command is started without the shell: the values must not
 * become arguments, which every user of the machine reads.
 */
const passesShell = (env: NodeJS.ProcessEnv) =>
  Object.keys(env).every((name) => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && !OF_SHELLS.has(name))

const OF_SHELLS = new Set(['IFS', 'OPTIND', 'LINENO', 'PPID', 'UID', 'EUID', 'SHELLOPTS', 'BASHOPTS'])

/**
 * Ends the command, whose process id it reads first, when this process was killed: then nothing renews the lock any more. The
 * guard is a shell whose input ends with this process. Windows has no such shell.
 */
function newGuard(grace: number): ChildProcess | undefined {
  if (process.platform === 'win32') return undefined
  const script =
    'read -r pid || exit; read -r said; [ "$said" = done ] && exit; ' +
    'kill -s TERM -- "$pid" || exit; sleep "$1"; kill -s KILL -- "$pid"'
  const guard = spawn('/bin/sh', ['-c', script, 'rlock-guard', String(grace / 1_000)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    // The variables of the command are none of its business, and may be too large.
    env: { PATH: process.env.PATH },
    // A group of its own: Ctrl-C must not end it before the command.
    detached: true,
  })
  guard.on('error', () => {})
  guard.stdin?.on('error', () => {})
  guard.unref()
  return guard
}
