import { liveLine } from '../../../kit/terminal/live-line'
import { PAGE, write } from '../report/files'
import { report, type TableSetup } from '../report/table'
import type { Failure, Result, Results } from './result'

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
