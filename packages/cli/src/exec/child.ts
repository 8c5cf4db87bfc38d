import { type ChildProcess, spawn } from 'node:child_process'
import { constants } from 'node:os'

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  /** The command could not be started. */
  readonly failed?: NodeJS.ErrnoException
}

export const signalNumber = (signal: NodeJS.Signals): number => constants.signals[signal] ?? 0

/**
 * Starts a command that uses this process's input and outputs directly. When the signal aborts, it gets SIGTERM, and SIGKILL
 * after the grace time.
 */
export function runChild(
  [command, ...args]: readonly string[],
  env: NodeJS.ProcessEnv,
  lost: AbortSignal,
  grace: number,
): { readonly ended: Promise<Ended>; readonly kill: (signal: NodeJS.Signals) => void } {
  const child = spawn(command!, args, { stdio: 'inherit', env })
  const guard = guardOf(child, grace)
  let killing: NodeJS.Timeout | undefined
  const terminate = () => {
    child.kill('SIGTERM')
    killing = setTimeout(() => child.kill('SIGKILL'), grace)
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
    lost.removeEventListener('abort', terminate)
    guard?.stdin?.end('done\n')
  })
  return { ended, kill: (signal) => child.kill(signal) }
}

/**
 * Ends the command when this process was killed: then nothing renews the lock any more. The guard is a shell whose input ends
 * with this process. Windows has no such shell.
 */
function guardOf({ pid }: ChildProcess, grace: number): ChildProcess | undefined {
  if (pid === undefined || process.platform === 'win32') return undefined
  const script =
    'read -r said; [ "$said" = done ] && exit; kill -TERM "$1" || exit; sleep "$2"; kill -KILL "$1"'
  const guard = spawn('/bin/sh', ['-c', script, 'rlock-guard', String(pid), String(grace / 1_000)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    // A group of its own: Ctrl-C must not end it before the command.
    detached: true,
  })
  guard.on('error', () => {})
  guard.stdin?.on('error', () => {})
  guard.unref()
  return guard
}
