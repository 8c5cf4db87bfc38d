import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { WatchResults, WatchSeries } from '../watch/results'
import { Canvas, type Colour } from './canvas'
import type { Picture } from './pictures'

const RESULTS = join(__dirname, '../results/watch.json')
const COLOURS: readonly Colour[] = ['blue', 'orange', 'purple', 'green']
const LEFT = 52
const RIGHT = 620
const TOP = 44
const PANEL = 128
const HEIGHT = 84

interface Panel {
  /** That of the dashboard. */
  readonly title: string
  readonly unit: string
  /** Which of its lines are drawn, and their order. */
  readonly lines: RegExp
}
const PANELS: readonly Panel[] = [
  { title: 'Waits of those that acquired', unit: 's', lines: /p99$/ },
  { title: 'Locks that are held now', unit: '', lines: /./ },
  { title: 'Calls that wait now', unit: '', lines: /./ },
  { title: 'Calls by outcome', unit: '/s', lines: /acquired|timeout|error/ },
  { title: 'Lost locks', unit: '', lines: /gone|lease/ },
]

/** What the dashboard showed while three faults were planted, from bench/results/watch.json. */
export const watch: Picture = {
  name: 'watch',
  title:
    'Five panels of the dashboard over two minutes: a slow holder makes waits and timeouts grow, a deleted lock adds one loss, and a dead server stops all acquisitions, fills the waiters and ends calls with errors.',
  draw: (theme) => {
    const results: WatchResults = JSON.parse(readFileSync(RESULTS, 'utf8'))
    const bottom = TOP + PANELS.length * PANEL
    const canvas = new Canvas(theme, 760, bottom + 16)
    const x = (second: number) => LEFT + ((RIGHT - LEFT) * second) / results.seconds
    for (const { title, from, to } of results.plants) {
      canvas.band(x(from) - 1, TOP - 14, x(to) - x(from) + 2, bottom - TOP - 8, 'red')
      canvas.text(x((from + to) / 2), 20, title, { bold: true, anchor: 'middle', colour: 'red' })
    }
    for (const [at, panel] of PANELS.entries()) drawPanel(canvas, TOP + at * PANEL, panel, results, x)
    for (let second = 0; second <= results.seconds; second += 10)
      canvas.text(x(second), bottom - 6, `${second} s`, { size: 10, anchor: 'middle' })
    return canvas
  },
}

function drawPanel(
  canvas: Canvas,
  top: number,
  { title, unit, lines }: Panel,
  results: WatchResults,
  x: (second: number) => number,
): void {
  const series = results.panels[title]!.filter((each) => lines.test(each.title))
  const most = scaleOf(Math.max(...series.flatMap(({ values }) => values.map((value) => value ?? 0))))
  const floor = top + 14 + HEIGHT
  const y = (value: number) => floor - (HEIGHT * value) / most
  canvas.text(LEFT, top + 6, title, { size: 12, bold: true })
  for (const value of [0, most / 2, most])
    canvas
      .line(LEFT, y(value), RIGHT, y(value), { dashed: value > 0 })
      .text(LEFT - 6, y(value) + 4, `${value}${unit && ` ${unit}`}`, { size: 10, anchor: 'end' })
  for (const [index, each] of series.entries()) {
    const colour = COLOURS[index % COLOURS.length]!
    for (const run of runsOf(each))
      canvas.curve(
        run.map(([at, value]) => [x(at * results.step), y(value)]),
        colour,
      )
    canvas.text(RIGHT + 12, top + 26 + index * 18, each.title, { size: 12, colour })
  }
}

/** The next of 1, 2, 5, 10, 20 … */
function scaleOf(most: number): number {
  const power = 10 ** Math.floor(Math.log10(most || 1))
  return [1, 2, 5, 10].map((each) => each * power).find((each) => each >= most)!
}

/** What hangs together: places without a value interrupt the line. */
function runsOf({ values }: WatchSeries): [number, number][][] {
  const runs: [number, number][][] = [[]]
  for (const [at, value] of values.entries())
    if (value !== null) runs.at(-1)!.push([at, value])
    else if (runs.at(-1)!.length > 0) runs.push([])
  return runs.filter((run) => run.length > 1)
}
