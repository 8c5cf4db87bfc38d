import { appendFileSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

interface Retried {
  currentRetry(): number
}

/** The processes of a parallel run write one list. Mocha's own process, which reads it, is the parent of all of them. */
const list = (run: number) => join(tmpdir(), `rlock-repeated-${run}.txt`)

export const mochaHooks = {
  afterEach(this: Mocha.Context): void {
    // The types of mocha hide `currentRetry`, which is in its documentation.
    const test = this.currentTest as (Mocha.Test & Retried) | undefined
    if (!test || test.currentRetry() === 0) return
    const run = process.env.MOCHA_WORKER_ID === undefined ? process.pid : process.ppid
    appendFileSync(list(run), `${test.fullTitle()} (now it ${test.state})\n`)
  },
}

/** In the last lines of the output, where a reader looks. */
export function mochaGlobalTeardown(): void {
  try {
    const repeated = readFileSync(list(process.pid), 'utf8')
    rmSync(list(process.pid))
    process.stdout.write(`\nRepeated, because they failed once:\n${repeated}`)
  } catch {
    // None was repeated.
  }
}
