import type { Result, Results } from '../run/result'
import { notesOf, type Row, report, yesOrNo } from './table'

const REGION = /(<!-- compatibility: (\w+) -->\n)[\s\S]*?(<!-- \/compatibility -->)/g

/** The page with fresh tables between its markers; what stands around them stays. */
export function withTables(page: string, results: Results, rows: RowsOf): string {
  return withRegions(page, (name) => contentOf(name, results, rows))
}

/** The page of evidence with what was pending or repeated between its markers. */
export function withNotes(page: string, results: Results): string {
  return withRegions(page, (name) => {
    const runs = results[name as keyof Results]
    return runs.length > 0 ? notesOf(runs) : undefined
  })
}

function withRegions(page: string, contentOf: (name: string) => string | undefined): string {
  const seen = new Set<string>()
  const written = page.replace(REGION, (region: string, begin: string, name: string, end: string) => {
    seen.add(name)
    const content = contentOf(name)
    return content === undefined ? region : `${begin}\n${content}\n\n${end}`
  })
  const missing = ['servers', 'nodes', 'runtimes', 'command'].filter((name) => !seen.has(name))
  if (missing.length > 0) throw new Error(`The page has no marker for ${missing.join(', ')}`)
  return written
}

export interface RowsOf {
  readonly parts: readonly Row[]
  /** Of the other runtimes. */
  readonly checks: readonly Row[]
  /** Of the command `rlock`. */
  readonly commands: readonly Row[]
}

/** Undefined where nothing has run yet. */
function contentOf(name: string, results: Results, { parts, checks, commands }: RowsOf): string | undefined {
  const some = (of: readonly Result[]) => (of.length > 0 ? of : undefined)
  if (name === 'servers' && some(results.servers))
    return report({ results: results.servers, rows: parts, beside: 'Node' })
  if (name === 'nodes' && some(results.nodes))
    return report({ results: results.nodes, rows: parts, beside: 'Redis' })
  if (name === 'runtimes' && some(results.runtimes))
    return report({ results: results.runtimes, rows: checks, beside: 'Redis', cell: yesOrNo })
  if (name === 'command' && some(results.command))
    return report({ results: results.command, rows: commands, beside: 'Redis', cell: yesOrNo })
  return undefined
}
