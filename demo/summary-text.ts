import type { Colors } from 'picocolors/types'
import type { Section } from './evidence'

const HEAD_WIDTH = 10

/** A line of a table. */
export function row(head: string, ...cells: (string | number)[]): string {
  return `  ${head.padEnd(HEAD_WIDTH)}${cells.map((cell) => String(cell).padStart(9)).join('')}`
}

export const WAITS_HEAD = row('', 'p50', 'p99', 'max')

/** How long the turns in `sections` were waited for. */
export function waits(head: string, sections: readonly Section[]): string {
  const sorted = sections.map(({ waitMs }) => waitMs).toSorted((a, b) => a - b)
  // Nearest rank.
  const at = (share: number) => sorted[Math.ceil(share * sorted.length) - 1]?.toFixed(1) ?? '-'
  return row(head, ...[0.5, 0.99, 1].map(at))
}

/** The last lines: what was wrong or, if nothing, what the run has shown. */
export function verdict(faults: readonly string[], shown: string, colors: Colors): string[] {
  if (faults.length > 0) return faults.map((fault) => colors.red(`FAILED: ${fault}`))
  return [colors.green(`OK: ${shown}`)]
}
