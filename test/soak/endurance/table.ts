import type { Row } from './verdict'

/** The rows as plain text that is a Markdown table as well. */
export function table(rows: readonly Row[]): string {
  const lines = rows.map(({ what, figure, bound, kept }) => [
    what,
    figure,
    bound ?? '',
    kept === undefined ? '' : kept ? 'kept' : 'MISSED',
  ])
  const cells = [['', 'figure', 'bound', ''], ...lines]
  const widths = [0, 1, 2, 3].map((column) => Math.max(...cells.map((line) => line[column]!.length)))
  const text = (line: readonly string[]) =>
    `| ${line.map((cell, column) => cell.padEnd(widths[column]!)).join(' | ')} |`
  const rule = `| ${widths.map((width) => '-'.repeat(Math.max(width, 3))).join(' | ')} |`
  return [text(cells[0]!), rule, ...cells.slice(1).map(text)].join('\n')
}
