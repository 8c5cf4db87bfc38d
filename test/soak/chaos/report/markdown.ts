/** The first line is the head; all columns but the first hold figures, unless they are named. */
export function markdownTable(lines: readonly (readonly string[])[], texts: readonly string[] = []): string {
  const [head, ...rows] = lines
  const rule = head!.map((column, at) => (at === 0 || texts.includes(column) ? '---' : '---:'))
  return [head!, rule, ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

export const count = (figure: number): string => figure.toLocaleString('en')
