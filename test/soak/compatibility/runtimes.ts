import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { checked, type Failure, type Outcome } from './result'

/** What the program of the other runtimes shows: one row of the page each. The program names them. */
export const CHECKS = [
  { name: 'import', title: '`import` and `require` give the same classes' },
  { name: 'lock', title: '`lock()` and `unlock()`; another client is kept out meanwhile' },
  { name: 'notified', title: 'a waiter is notified of the release' },
  { name: 're-entry', title: '`withLock` within `withLock`, by its asynchronous context' },
  { name: 'renewal', title: 'a hold outlives the watchdog timeout' },
  { name: 'loss', title: 'a lost lock aborts the signal' },
  { name: 'shutdown', title: '`shutdown()`, after which the process ends by itself' },
] as const

/** All checks together take some six seconds; this is for a machine under load. */
const TIMEOUT_MS = 120_000

export interface ProgramRun {
  readonly command: string
  readonly args: readonly string[]
  /** A project in which the package is installed. */
  readonly project: string
  readonly port: number
}

interface CheckLine {
  readonly check: string
  readonly ok: boolean
  readonly message?: string
}

/** Runs the program and waits for its end. */
export async function runProgram({ command, args, project, port }: ProgramRun): Promise<Outcome> {
  copyFileSync(join(__dirname, 'program.mjs'), join(project, 'program.mjs'))
  const child = spawn(command, [...args, 'program.mjs', String(port)], {
    cwd: project,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: TIMEOUT_MS,
    killSignal: 'SIGKILL',
  })
  const lines: CheckLine[] = []
  let errors = ''
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (line.startsWith('{"check"')) lines.push(JSON.parse(line) as CheckLine)
  })
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString()
  })
  const [code] = (await once(child, 'close')) as [number | null]
  return outcomeOf(lines, code, errors)
}

/** A check without a line has failed; and so has the last one where the process had to be killed. */
export function outcomeOf(lines: readonly CheckLine[], code: number | null, errors: string): Outcome {
  const failures: Failure[] = CHECKS.flatMap(({ name, title }) => {
    const line = lines.find(({ check }) => check === name)
    const ended = name !== 'shutdown' || code === 0
    if (line?.ok && ended) return []
    const message = line?.message ?? (ended ? `was not reached: ${errors}` : `the process ended with ${code}`)
    return [{ part: name, title, message }]
  })
  return checked(CHECKS, failures)
}
