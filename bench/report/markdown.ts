import type { Spread } from '../driver/statistics'

/** Plain text that is a Markdown table as well. The first line is the head. */
export function table(lines: readonly (readonly string[])[]): string {
  const widths = lines[0]!.map((_, column) => Math.max(3, ...lines.map((line) => line[column]!.length)))
  const text = (line: readonly string[]) =>
    `| ${line.map((entry, column) => entry.padEnd(widths[column]!)).join(' | ')} |`
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`
  return [text(lines[0]!), rule, ...lines.slice(1).map(text)].join('\n')
}

/** The median, and from the least to the most where the rounds differ. */
export function shown({ median, least, most }: Spread, digits: number): string {
  const text = (value: number) => value.toFixed(digits)
  return text(least) === text(most) ? text(median) : `${text(median)} (${text(least)}–${text(most)})`
}
