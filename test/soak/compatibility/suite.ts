import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, openSync, readFileSync, rmSync } from 'node:fs'
import { delimiter, dirname } from 'node:path'
import { endWithThisProcess } from '../../kit/servers/left-behind'
import { inCache, inRepository } from './binaries'
import type { Failure, Outcome } from './result'
import type { Part } from './subjects'

export interface SuiteRun {
  /** The Node that runs mocha and the tests. */
  readonly node: string
  readonly server: string
  readonly parts: readonly Part[]
  readonly jobs: number
  /** How the files of what it printed and found are named. */
  readonly log: string
}

/** Runs the parts. A test that fails is repeated once, for some limits are of time and a machine may be busy. */
export async function runSuite({ node, server, parts, jobs, log }: SuiteRun): Promise<Outcome> {
  mkdirSync(inCache('logs'), { recursive: true })
  const [printed, found] = [inCache('logs', `${log}.log`), inCache('logs', `${log}.json`)]
  rmSync(found, { force: true })
  console.log(`it prints into ${printed}`)
  const output = openSync(printed, 'w')
  const mocha = spawn(
    node,
    [
      inRepository('node_modules/mocha/bin/mocha.js'),
      ...['--jobs', String(jobs), '--reporter', 'json', '--reporter-option', `output=${found}`],
      ...parts.flatMap(({ folders }) => folders.map((folder) => `test/${folder}/**/*.test.ts`)),
    ],
    {
      cwd: inRepository(),
      stdio: ['ignore', output, output],
      env: {
        ...process.env,
        // Programs that a test starts by the name `node` are of this version, too.
        ...(node !== process.execPath && { PATH: `${dirname(node)}${delimiter}${process.env.PATH}` }),
        ...{ RLOCK_TEST_REPEAT: '1', RLOCK_TEST_REDIS_SERVER: server },
        ...{ RLOCK_TEST_REDIS_URL: '', RLOCK_TEST_REDIS_IMAGE: '' },
      },
    },
  )
  endWithThisProcess(mocha)
  const [code] = (await once(mocha, 'close')) as [number | null]
  return outcomeOf(existsSync(found) ? readFileSync(found, 'utf8') : undefined, parts, code)
}

interface Test {
  readonly file?: string
  readonly fullTitle: string
  readonly err: { readonly message?: string; readonly stack?: string }
}

/** What mocha found, by part. A run that broke off has proven nothing. */
export function outcomeOf(json: string | undefined, parts: readonly Part[], code: number | null): Outcome {
  const none = { passes: [], pending: [], failures: [] }
  const found = (json === undefined ? none : JSON.parse(json)) as Record<keyof typeof none, readonly Test[]>
  const failures = found.failures.map(
    ({ file, fullTitle, err }): Failure => ({
      part: partOf(file, parts),
      title: fullTitle,
      message: err.stack ?? err.message ?? '',
    }),
  )
  if (json === undefined || (code !== 0 && failures.length === 0))
    failures.push({ part: undefined, title: 'the run itself', message: `mocha ended with ${code}` })
  const count = (tests: readonly Test[], part: string) =>
    tests.filter(({ file }) => partOf(file, parts) === part).length
  const tallies = parts.map(({ name }) => [
    name,
    {
      passed: count(found.passes, name),
      pending: count(found.pending, name),
      failed: count(found.failures, name),
    },
  ])
  return { parts: Object.fromEntries(tallies), failures }
}

function partOf(file: string | undefined, parts: readonly Part[]): string | undefined {
  const path = file?.replaceAll('\\', '/')
  return parts.find(({ folders }) => folders.some((folder) => path?.includes(`/test/${folder}/`)))?.name
}
