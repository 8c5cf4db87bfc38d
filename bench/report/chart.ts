// The chart of docs/evidence/performance.md: one SVG for light and dark pages.

import { writeFileSync } from 'node:fs'
import type { BenchRun } from '../driver/run'
import { SUBJECTS } from '../subjects/catalogue'
import { isMeasured, spreadIn, troublesOf } from './tables'

/** Ours first. */
const CONTENDERS = ['this', 'peer', 'baseline'].flatMap((kind) => SUBJECTS.filter((one) => one.kind === kind))
const TITLE = 'Sections a second, as a ratio of two trivial EVALSHA calls over the same client (dashed)'
const PANELS = [
  ['one-caller', 'one caller alone'],
  ['many-locks', '64 callers, 64 locks'],
  ['one-process', '50 callers, one lock'],
  ['four-processes', '4 processes × 4, one lock'],
] as const

const STYLE = `<style>
text { font: 11px system-ui, -apple-system, Segoe UI, Helvetica, Arial, sans-serif; fill: var(--ink) }
.title { font-size: 14px; font-weight: 600 } .small { font-size: 10px } .remark { font-size: 10px; fill: var(--red) }
.this { fill: var(--blue) } text.this { fill: var(--ink); font-weight: 600 } .peer { fill: var(--grey) } .baseline { fill: var(--faint) }
.page { fill: var(--page) } .ink { stroke: var(--ink) } .axis { stroke: var(--faint) } .dashed { stroke-dasharray: 4 3 }
svg { --page: #ffffff; --ink: #1f2328; --faint: #c3cad1; --grey: #8c959f; --blue: #0969da; --red: #cf222e }
@media (prefers-color-scheme: dark) { svg { --page: #0d1117; --ink: #e6edf3; --faint: #545d68; --grey: #848d97; --blue: #4493f8; --red: #ff7b72 } }
</style>`

const [WIDTH, ROW, NAMES, HEAD, GAP] = [900, 30, 165, 62, 22]
const PANEL = (WIDTH - NAMES - GAP * PANELS.length) / PANELS.length
/** Beside the longest bar there is room for its figure. */
const BARS = PANEL / 1.75
const BOTTOM = HEAD + CONTENDERS.length * ROW
const middle = (row: number) => HEAD + (row + 0.5) * ROW

const text = (x: number, y: number, content: string, style = '', anchor = 'start') =>
  `<text x="${x.toFixed(1)}" y="${y}" class="${style}" text-anchor="${anchor}">${content}</text>`
const line = (x1: number, y1: number, x2: number, y2: number, style: string) =>
  `<line x1="${x1.toFixed(1)}" y1="${y1}" x2="${x2.toFixed(1)}" y2="${y2}" class="${style}"/>`

/** Of the run, where it has the figures. */
export function writeChart(run: BenchRun, file: string): void {
  if (!isMeasured(run, 'one-caller')) return
  const parts = [
    `<svg role="img" xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${BOTTOM + 12}" viewBox="0 0 ${WIDTH} ${BOTTOM + 12}">` +
      `<title>${TITLE}</title>`,
    STYLE,
    `<rect width="${WIDTH}" height="${BOTTOM + 12}" class="page"/>`,
    text(8, 20, TITLE, 'title'),
    ...CONTENDERS.map(({ title }, row) => text(NAMES - 8, middle(row) + 4, title, '', 'end')),
    ...PANELS.flatMap(([scenario, title], index) =>
      panel(run, scenario, title, NAMES + index * (PANEL + GAP)),
    ),
    '</svg>\n',
  ]
  writeFileSync(file, parts.join('\n'))
}

function panel(run: BenchRun, scenario: string, title: string, left: number): string[] {
  const spreads = CONTENDERS.map(({ name }) => spreadIn(run, scenario, name, 'ofLimit'))
  const most = Math.max(1, ...spreads.map((spread) => spread?.most ?? 0))
  const at = (value: number) => left + (BARS * value) / most
  const rows = CONTENDERS.flatMap(({ name, kind }, row) => {
    const [spread, y, beside] = [spreads[row], middle(row), left + BARS + 6]
    if (!spread) return [text(beside, y + 4, '–')]
    const troubles = troublesOf(run, scenario, name).map((each) => each.split(':')[0]!)
    const remark = ['lets two in', 'hangs', 'failed', 'starves'].find((one) => troubles.includes(one))
    const length = (at(spread.median) - left).toFixed(1)
    return [
      `<rect x="${left.toFixed(1)}" y="${y - 9}" width="${length}" height="18" class="${kind}"/>`,
      line(at(spread.least), y, at(spread.most), y, 'ink'),
      text(beside, y + 4, spread.median.toFixed(2), kind === 'this' ? 'this' : ''),
      ...(remark ? [text(beside + 32, y + 4, remark, 'remark')] : []),
    ]
  })
  return [
    text(left, 38, title),
    text(left, 52, 'of the limit', 'small'),
    ...rows,
    line(left, HEAD, left, BOTTOM, 'axis'),
    line(at(1), HEAD, at(1), BOTTOM, 'ink dashed'),
  ]
}
