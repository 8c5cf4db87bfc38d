// The charts of docs/evidence/performance.md, each one SVG for light and dark pages.

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BenchRun } from '../driver/run'
import { SUBJECTS, type Subject } from '../subjects/catalogue'
import { isMeasured, spreadIn, troublesOf } from './tables'

/** Ours first. */
const CONTENDERS = ['this', 'peer', 'baseline'].flatMap((kind) => SUBJECTS.filter((one) => one.kind === kind))

/** The colours of all charts: of a light page, and of a dark one. */
const STYLE = `<style>
text { font: 11px system-ui, -apple-system, Segoe UI, Helvetica, Arial, sans-serif; fill: var(--ink) }
.title { font-size: 14px; font-weight: 600 } .small { font-size: 10px } .remark { font-size: 10px; fill: var(--red) }
.this { fill: var(--blue) } text.this { fill: var(--ink); font-weight: 600 } .peer { fill: var(--grey) } .baseline { fill: var(--faint) }
.ink { stroke: var(--ink) } .axis { stroke: var(--faint) } .dashed { stroke-dasharray: 4 3 }
.page { fill: var(--page) }
svg { --page: #ffffff; --ink: #1f2328; --faint: #c3cad1; --grey: #8c959f; --blue: #0969da; --red: #cf222e }
@media (prefers-color-scheme: dark) { svg { --page: #0d1117; --ink: #e6edf3; --faint: #545d68; --grey: #848d97; --blue: #4493f8; --red: #ff7b72 } }
</style>`

const escaped = (text: string) => text.replace(/&/g, '&amp;').replace(/</g, '&lt;')
const text = (x: number, y: number, content: string, style = '', anchor = 'start') =>
  `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" class="${style}" text-anchor="${anchor}">${escaped(content)}</text>`
const line = (x1: number, y1: number, x2: number, y2: number, style: string) =>
  `<line x1="${x1.toFixed(1)}" y1="${y1.toFixed(1)}" x2="${x2.toFixed(1)}" y2="${y2.toFixed(1)}" class="${style}"/>`

function svg(title: string, height: number, parts: readonly string[]): string {
  return [
    `<svg role="img" xmlns="http://www.w3.org/2000/svg" width="900" height="${height}" viewBox="0 0 900 ${height}">` +
      `<title>${escaped(title)}</title>`,
    STYLE,
    `<rect width="900" height="${height}" class="page"/>`,
    ...parts,
    '</svg>\n',
  ].join('\n')
}

/** One figure of all contenders. */
interface Panel {
  readonly title: string
  readonly what: string
  readonly scenario: string
  readonly figure: string
  readonly digits: number
  readonly isLog?: true
  /** Where a line is drawn across all bars. */
  readonly line?: number
}

const [ROW, NAMES, HEAD, GAP] = [30, 165, 62, 22]

/** Panels beside each other, with a row for each contender. */
function barChart(run: BenchRun, title: string, panels: readonly Panel[]): string {
  const width = (900 - NAMES - GAP * panels.length) / panels.length
  const bottom = HEAD + CONTENDERS.length * ROW
  const middle = (row: number) => HEAD + (row + 0.5) * ROW
  return svg(title, bottom + 12, [
    text(8, 20, title, 'title'),
    ...CONTENDERS.map((one, row) => text(NAMES - 8, middle(row) + 4, one.title, '', 'end')),
    ...panels.flatMap((panel, index) => bars(run, panel, NAMES + index * (width + GAP), width, middle)),
  ])
}

function bars(
  run: BenchRun,
  panel: Panel,
  left: number,
  width: number,
  middle: (row: number) => number,
): string[] {
  const spreads = CONTENDERS.map(({ name }) => spreadIn(run, panel.scenario, name, panel.figure))
  const most = Math.max(panel.line ?? 0, ...spreads.map((spread) => spread?.most ?? 0))
  const least =
    Math.min(...spreads.flatMap((spread) => (spread && spread.least > 0 ? [spread.least] : []))) / 2
  // Beside the longest bar there is room for the figures.
  const room = width / 1.75
  const at = (value: number) => {
    const part = panel.isLog
      ? Math.log(Math.max(value, least) / least) / Math.log(most / least)
      : value / most
    return left + room * part
  }
  const bottom = middle(CONTENDERS.length - 0.5)
  const rows = CONTENDERS.flatMap((subject, row) => rowOf(run, panel, subject, spreads[row], middle(row)))
  function rowOf(...[, , subject, spread, y]: [BenchRun, Panel, Subject, (typeof spreads)[number], number]) {
    if (!spread) return [text(left + room + 6, y + 4, '–')]
    const kinds = troublesOf(run, panel.scenario, subject.name).map((each) => each.split(':')[0]!)
    const remark = ['lets two in', 'hangs', 'failed', 'starves'].find((kind) => kinds.includes(kind))
    const digits = spread.median < 10 ? Math.max(1, panel.digits) : panel.digits
    const figure = spread.median.toLocaleString('en', {
      minimumFractionDigits: digits,
      maximumFractionDigits: digits,
    })
    const length = Math.max(0, at(spread.median) - left).toFixed(1)
    return [
      `<rect x="${left.toFixed(1)}" y="${y - 9}" width="${length}" height="18" class="${subject.kind}"/>`,
      line(at(spread.least), y, at(spread.most), y, 'ink'),
      text(left + room + 6, y + 4, figure, subject.kind === 'this' ? 'this' : ''),
      ...(remark ? [text(left + room + 10 + 7 * figure.length, y + 4, remark, 'remark')] : []),
    ]
  }
  return [
    text(left, 38, panel.title),
    text(left, 52, panel.isLog ? `${panel.what} (log scale)` : panel.what, 'small'),
    ...rows,
    line(left, HEAD, left, bottom, 'axis'),
    ...(panel.line === undefined ? [] : [line(at(panel.line), HEAD, at(panel.line), bottom, 'ink dashed')]),
  ]
}

const ofLimit = (scenario: string, title: string): Panel => ({
  ...{ title, scenario, what: 'of the limit', figure: 'ofLimit', digits: 2, line: 1 },
})
const waits = (scenario: string, title: string): Panel[] => [
  { title, scenario, what: 'p99 wait, ms', figure: 'waitP99Ms', digits: 1, isLog: true },
  { title, scenario, what: 'least share', figure: 'leastCallerShare', digits: 2 },
]

interface Chart {
  /** Drawn where it was measured. */
  readonly scenario: string
  draw(run: BenchRun): string
}

const CHARTS: Readonly<Record<string, Chart>> = {
  throughput: {
    scenario: 'one-caller',
    draw: (run) =>
      barChart(
        run,
        'Sections a second, as a ratio of two trivial EVALSHA calls over the same client (dashed)',
        [
          ofLimit('one-caller', 'one caller alone'),
          ofLimit('many-locks', '64 callers, 64 locks'),
          ofLimit('one-process', '50 callers, one lock'),
          ofLimit('four-processes', '4 processes × 4, one lock'),
        ],
      ),
  },
  fairness: {
    scenario: 'one-process',
    draw: (run) =>
      barChart(
        run,
        'Who contends for one lock: the p99 wait, and what the least served gets of its fair share',
        [...waits('one-process', '50 callers'), ...waits('four-processes', '4 × 4 callers')],
      ),
  },
}

/** Writes each chart that the run has figures for. */
export function writeCharts(run: BenchRun, directory: string): void {
  mkdirSync(directory, { recursive: true })
  for (const [name, { scenario, draw }] of Object.entries(CHARTS))
    if (isMeasured(run, scenario)) writeFileSync(join(directory, `${name}.svg`), draw(run))
}
