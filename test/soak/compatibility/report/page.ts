import { withRegions } from '../../../kit/docs/regions'
import type { Result, Results } from '../run/result'
import { type Row, report, yesOrNo } from './table'

/** The page with fresh tables between its markers; what stands around them stays. */
export function withTables(page: string, results: Results, rows: RowsOf): string {
  const seen = new Set<string>()
  const written = withRegions(page, 'compatibility', (name) => {
    seen.add(name)
    return contentOf(name, results, rows)
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
