import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { COMMAND_CHECKS } from '../command/checks'
import { inRepository } from '../fetch/cache'
import { PARTS } from '../parts'
import { merged, type Result, type Results } from '../run/result'
import { CHECKS } from '../runtimes/checks'
import { withNotes, withTables } from './page'

export const PAGE = 'docs/operations/compatibility.md'
export const NOTES = 'docs/evidence/compatibility-runs.md'
/** Kept with the page, so that a run of some columns leaves the others as they are. */
const RESULTS = 'test/soak/compatibility/results.json'

/** Puts a run into the page and into the results behind it. `names` are all columns, in their order. */
export function write(kind: keyof Results, fresh: Result, names: readonly string[]): void {
  const known = readResults()
  const results = { ...known, [kind]: merged(known[kind], [fresh], names) }
  writeFileSync(inRepository(RESULTS), `${JSON.stringify(results, null, 2)}\n`)
  const rewrite = (page: string, change: (text: string) => string) =>
    writeFileSync(inRepository(page), change(readFileSync(inRepository(page), 'utf8')))
  rewrite(PAGE, (text) =>
    withTables(text, results, { parts: PARTS, checks: CHECKS, commands: COMMAND_CHECKS }),
  )
  rewrite(NOTES, (text) => withNotes(text, results))
}

export function readResults(): Results {
  const file = inRepository(RESULTS)
  const none: Results = { servers: [], nodes: [], runtimes: [], command: [] }
  return existsSync(file)
    ? { ...none, ...(JSON.parse(readFileSync(file, 'utf8')) as Partial<Results>) }
    : none
}
