import { spawn } from 'node:child_process'
import { createWriteStream, mkdirSync } from 'node:fs'
import { delimiter, dirname } from 'node:path'
import { createInterface } from 'node:readline'
import { inCache, inRepository } from '../fetch/cache'
import { type Part, partOf, patternsOf } from '../parts'
import { EventTally, eventIn, pendingReasonIn } from './events'
import type { Failure, Tally } from './result'

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
  readonly pendingReasons: readonly string[]
  readonly seconds: number
}

/** Runs the parts in a process of its own and counts what it reports. */
export async function runMocha(run: MochaRun): Promise<MochaOutcome> {
  const { node, server, parts, jobs, log, onProgress, onFailure } = run
  const started = performance.now()
  const names = parts.map(({ name }) => name)
  const tally = new EventTally(names, (file) => partOf(file, parts))
  const reasons = new Set<string>()
  mkdirSync(inCache('logs'), { recursive: true })
  const logFile = createWriteStream(inCache('logs', log))

  const mocha = spawn(
    node,
    [
      inRepository('node_modules/mocha/bin/mocha.js'),
      ...patternsOf(parts),
      ...['--jobs', String(jobs), '--reporter', inRepository('test/soak/compatibility/run/reporter.ts')],
    ],
    {
      cwd: inRepository(),
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...process.env,
        // Programs that a test starts by the name `node` are of this version, too.
        PATH: `${dirname(node)}${delimiter}${process.env.PATH}`,
        RLOCK_TEST_REDIS_SERVER: server,
        RLOCK_TEST_REDIS_URL: '',
        RLOCK_TEST_REDIS_IMAGE: '',
      },
    },
  )
  const endMocha = () => mocha.kill('SIGINT')
  process.once('exit', endMocha)
  createInterface({ input: mocha.stdout }).on('line', (line) => {
    logFile.write(`${line}\n`)
    const event = eventIn(line)
    if (!event) return
    tally.add(event)
    if (event.kind === 'fail') onFailure(tally.failures.at(-1)!)
    onProgress(progressOf(tally.parts, tally.failures.length))
  })
  createInterface({ input: mocha.stderr }).on('line', (line) => {
    logFile.write(`${line}\n`)
    const reason = pendingReasonIn(line)
    if (reason !== undefined) reasons.add(reason)
  })
  const code = await new Promise<number | null>((resolve, reject) => {
    mocha.once('error', reject)
    mocha.once('close', resolve)
  })
  process.off('exit', endMocha)
  logFile.end()

  const failures = [...tally.failures]
  if (!tally.ended) failures.push(wholeRun(`mocha ended with ${code} before the last test`))
  else if (code !== 0 && failures.length === 0) failures.push(wholeRun(`mocha ended with ${code}`))
  return {
    parts: tally.parts,
    failures,
    pendingReasons: [...reasons].sort(),
    seconds: Math.round((performance.now() - started) / 1_000),
  }
}

const wholeRun = (message: string): Failure => ({ part: undefined, title: 'the run itself', message })

function progressOf(parts: Record<string, Tally>, failed: number): string {
  const done = Object.entries(parts).filter(([, { passed, pending }]) => passed + pending > 0)
  const counts = done.map(([name, { passed }]) => `${name} ${passed}`)
  return `${counts.join(', ')}${failed > 0 ? `; ${failed} FAILED` : ''}`
}
