import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { COMMAND_CHECKS } from '../command/checks'
import { inRepository } from '../fetch/cache'
import { PARTS } from '../parts'
import { merged, type Result, type Results } from '../run/result'
import { CHECKS } from '../runtimes/checks'
import { withTables } from './page'
import { notesOf } from './table'

export const PAGE = 'docs/operations/compatibility.md'
/** Kept with the page, so that a run of some columns leaves the others as they are. */
const RESULTS = 'test/soak/compatibility/results.json'

/** Puts a run into the page and into the results behind it. `names` are all columns, in their order. */
export function write(kind: keyof Results, fresh: Result, names: readonly string[]): void {
  const known = readResults()
  const results = { ...known, [kind]: merged(known[kind], [fresh], names) }
  writeFileSync(inRepository(RESULTS), textOf(results))
  const page = readFileSync(inRepository(PAGE), 'utf8')
  const rows = { parts: PARTS, checks: CHECKS, commands: COMMAND_CHECKS }
  writeFileSync(inRepository(PAGE), withTables(page, results, rows))
  console.log(notesOf([fresh]))
}

/** A line for each column. What was pending or repeated is told when the run ends, and not kept. */
function textOf(results: Results): string {
  const kinds = Object.entries(results).map(([kind, columns]: [string, readonly Result[]]) => {
    const lines = columns.map((column) => JSON.stringify({ ...column, pendingReasons: [], repeated: [] }))
    return `"${kind}": [\n${lines.join(',\n')}\n]`
  })
  return `{\n${kinds.join(',\n')}\n}\n`
}

export function readResults(): Results {
  const file = inRepository(RESULTS)
  const none: Results = { servers: [], nodes: [], runtimes: [], command: [] }
  return existsSync(file)
    ? { ...none, ...(JSON.parse(readFileSync(file, 'utf8')) as Partial<Results>) }
    : none
}
