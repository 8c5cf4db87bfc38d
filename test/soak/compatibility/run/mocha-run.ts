import { spawn } from 'node:child_process'
import { createWriteStream, mkdirSync, type WriteStream } from 'node:fs'
import { delimiter, dirname } from 'node:path'
import { createInterface } from 'node:readline'
import { liveLine } from '../../../kit/terminal/live-line'
import { inCache, inRepository } from '../fetch/binaries'
import { type Part, partOf, patternsOf } from '../options'
import { PAGE, report, type TableSetup, write } from '../report/table'
import { EventTally, eventIn, pendingReasonIn } from './events'
import type { Failure, Result, Results, Tally } from './result'

export interface MochaRun {
  /** The Node that runs mocha and the tests. */
  readonly node: string
  readonly server: string
  readonly parts: readonly Part[]
  readonly jobs: number
  /** The name of the log file. */
  readonly log: string
  readonly onProgress: (text: string) => void
  readonly onFailure: (failure: Failure) => void
}

export interface MochaOutcome {
  readonly parts: Record<string, Tally>
  readonly failures: readonly Failure[]
  /** What failed in the whole run, and passed when its file was run again alone. */
  readonly repeated: readonly string[]
  readonly pendingReasons: readonly string[]
  readonly seconds: number
}

/** Runs the parts; a file with a failure once more, alone, for some limits are of time and a machine may be busy. */
export async function runMocha(run: MochaRun): Promise<MochaOutcome> {
  const started = performance.now()
  mkdirSync(inCache('logs'), { recursive: true })
  const log = createWriteStream(inCache('logs', run.log))
  const first = await mochaProcess(run, ['--jobs', String(run.jobs), ...patternsOf(run.parts)], log)
  const { tally, reasons } = first
  const before = tally.failures
  const broken = first.broken
  for (const file of tally.failedFiles) {
    const again = await mochaProcess(run, ['--no-parallel', file], log)
    if (again.broken === undefined) tally.replaceBy(again.tally)
  }
  log.end()

  const titles = new Set(tally.failures.map(({ title }) => title))
  const repeated = before.filter(({ title }) => !titles.has(title)).map(({ title }) => title)
  const whole: Failure[] = broken ? [{ part: undefined, title: 'the run itself', message: broken }] : []
  return {
    parts: tally.tallies,
    failures: [...tally.failures, ...whole],
    repeated,
    pendingReasons: [...reasons].sort(),
    seconds: Math.round((performance.now() - started) / 1_000),
  }
}

interface ProcessOutcome {
  readonly tally: EventTally
  readonly reasons: ReadonlySet<string>
  /** Why the process has proven nothing. */
  readonly broken: string | undefined
}

async function mochaProcess(
  { node, server, parts, onProgress, onFailure }: MochaRun,
  args: readonly string[],
  log: WriteStream,
): Promise<ProcessOutcome> {
  const tally = new EventTally(
    parts.map(({ name }) => name),
    (file) => partOf(file, parts),
  )
  const reasons = new Set<string>()
  const reporter = ['--reporter', inRepository('test/soak/compatibility/run/reporter.ts')]
  const mocha = spawn(
    node,
    [inRepository('node_modules/mocha/bin/mocha.js'), '--retries', '0', ...args, ...reporter],
    {
      cwd: inRepository(),
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...process.env,
        // Programs that a test starts by the name `node` are of this version, too.
        ...(node !== process.execPath && { PATH: `${dirname(node)}${delimiter}${process.env.PATH}` }),
        RLOCK_TEST_REDIS_SERVER: server,
        RLOCK_TEST_REDIS_URL: '',
        RLOCK_TEST_REDIS_IMAGE: '',
      },
    },
  )
  const endMocha = () => mocha.kill('SIGINT')
  process.once('exit', endMocha)
  createInterface({ input: mocha.stdout }).on('line', (line) => {
    log.write(`${line}\n`)
    const event = eventIn(line)
    if (!event) return
    tally.add(event)
    if (event.kind === 'fail') onFailure({ part: undefined, title: event.title, message: event.message })
    onProgress(progressOf(tally))
  })
  createInterface({ input: mocha.stderr }).on('line', (line) => {
    log.write(`${line}\n`)
    const reason = pendingReasonIn(line)
    if (reason !== undefined) reasons.add(reason)
  })
  const code = await new Promise<number | null>((resolve, reject) => {
    mocha.once('error', reject)
    mocha.once('close', resolve)
  })
  process.off('exit', endMocha)
  const isBroken = !tally.ended || (code !== 0 && tally.failures.length === 0)
  return { tally, reasons, broken: isBroken ? `mocha ended with ${code}` : undefined }
}

function progressOf(tally: EventTally): string {
  const done = Object.entries(tally.tallies).filter(([, { passed, pending }]) => passed + pending > 0)
  const failed = tally.failures.length
  return (
    done.map(([name, { passed }]) => `${name} ${passed}`).join(', ') + (failed ? `; ${failed} failed` : '')
  )
}

export interface Progress {
  show(text: string): void
  failed(failure: Failure): void
}

export interface Plan<T> extends Omit<TableSetup, 'results'> {
  readonly kind: keyof Results
  /** All columns of the page, in their order. */
  readonly all: readonly T[]
  readonly subjects: readonly T[]
  /** Whether the page is written: not from a run of some parts. */
  readonly isWhole: boolean
  readonly runOne: (subject: T, progress: Progress) => Promise<Result>
}

/** Runs one subject after the other, prints the table and writes the page. Resolves with the exit code. */
export async function runAll<T extends { name: string; title: string }>(plan: Plan<T>): Promise<number> {
  const line = liveLine(process.stderr)
  const results: Result[] = []
  const broken: string[] = []
  for (const subject of plan.subjects) {
    const progress: Progress = {
      show: (text) => line.show(`${subject.title}: ${text}`),
      failed: ({ title, message }) => line.keep(`✗ ${subject.title}: ${title}\n  ${message.split('\n')[0]}`),
    }
    try {
      progress.show('fetching')
      const result = await plan.runOne(subject, progress)
      results.push(result)
      line.keep(`${subject.title} (${result.version}, ${result.from}): ${result.seconds} s`)
      // At once: a run that is ended early has written the columns that it has.
      if (plan.isWhole) writeColumn(plan, result)
    } catch (error) {
      broken.push(`${subject.title}: ${(error as Error).message}`)
      line.keep(`✗ ${broken.at(-1)}`)
    }
  }
  line.clear()
  if (results.length > 0) console.log(`\n${report({ ...plan, results })}\n`)
  for (const { title, failures } of results)
    for (const { part, title: test, message } of failures)
      console.log(`✗ ${title}, ${part ?? 'no part'}: ${test}\n${message}\n`)
  for (const each of broken) console.log(`✗ not run: ${each}`)
  if (plan.isWhole && results.length > 0) console.log(`written: ${PAGE}`)
  return broken.length === 0 && results.every(({ failures }) => failures.length === 0) ? 0 : 1
}

const writeColumn = <T extends { name: string }>({ kind, all }: Plan<T>, result: Result) =>
  write(
    kind,
    result,
    all.map(({ name }) => name),
  )

/** The day as the page has it. */
export const today = (): string => new Date().toISOString().slice(0, 10)

/** Runs a program to its end; a signal ends it with all that it has started. */
export function main(run: () => Promise<number>): void {
  process.on('SIGINT', () => process.exit(130))
  process.on('SIGTERM', () => process.exit(143))
  run().then(
    (code) => process.exit(code),
    (error) => {
      console.error(error)
      process.exit(1)
    },
  )
}
