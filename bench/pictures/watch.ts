import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { WatchResults, WatchSeries } from '../watch/results'
import { Canvas, type Colour } from './canvas'
import type { Picture } from './pictures'

const COLOURS: readonly Colour[] = ['blue', 'orange', 'purple', 'green']
const LEFT = 52
const RIGHT = 620
const TOP = 44
const PANEL = 128
const HEIGHT = 84

export function watchResults(): WatchResults {
  return JSON.parse(readFileSync(join(__dirname, '../results/watch.json'), 'utf8'))
}

interface Panel {
  /** That of the dashboard. */
  readonly title: string
  readonly unit: string
  /** Which of its lines are drawn. */
  readonly lines: RegExp
}
const WAITS = { title: 'Waits of those that acquired', unit: 's', lines: /p99$/ }
const HELD = { title: 'Locks that are held now', unit: '', lines: /./ }
const WAITING = { title: 'Calls that wait now', unit: '', lines: /./ }
const OUTCOMES = { title: 'Calls by outcome', unit: '/s', lines: /acquired|timeout|error/ }
const LATE = { title: 'Calls not in time', unit: '', lines: /./ }
const LOST = { title: 'Lost locks', unit: '', lines: /gone|lease/ }

/** What the dashboard showed while three faults were planted: a picture for each, from bench/results/watch.json. */
export const WATCH_PICTURES: readonly Picture[] = [
  picture({
    plant: 'slow holder',
    name: 'watch-slow-holder',
    title:
      'A slow holder: the lock report is held all the time, six calls wait for it, and all that end are not in time. The locks of the group order go on as before.',
    panels: [WAITING, HELD, LATE, WAITS],
  }),
  picture({
    plant: 'lost lock',
    name: 'watch-lost-lock',
    title: 'A lost lock: the count of losses with the reason gone rises by one. Nothing else moves.',
    panels: [LOST, OUTCOMES],
  }),
  picture({
    plant: 'dead server',
    name: 'watch-dead-server',
    title:
      'A dead server: no call acquires and none holds, all calls wait and end with errors after their wait. When the server is back, all of it ends at once.',
    panels: [OUTCOMES, WAITING, HELD],
  }),
]

interface Planted extends Pick<Picture, 'name' | 'title'> {
  /** Its title in the results. */
  readonly plant: string
  readonly panels: readonly Panel[]
}

/** Seconds that are drawn before and after the fault. */
const AROUND = 20

function picture({ plant, name, title, panels }: Planted): Picture {
  return {
    name,
    title,
    draw: (theme) => {
      const results = watchResults()
      const { from, to } = results.plants.find((each) => each.title === plant)!
      const bottom = TOP + panels.length * PANEL
      const canvas = new Canvas(theme, 760, bottom + 16)
      const time = new Time(from - AROUND, to + AROUND)
      canvas.band(time.x(from) - 1, TOP - 14, time.x(to) - time.x(from) + 2, bottom - TOP - 8, 'red')
      canvas.text(time.x((from + to) / 2), 20, plant, { bold: true, anchor: 'middle', colour: 'red' })
      for (const [at, panel] of panels.entries()) drawPanel(canvas, TOP + at * PANEL, panel, results, time)
      for (let second = time.from; second <= time.to; second += 5)
        canvas.text(time.x(second), bottom - 6, `${second} s`, { size: 10, anchor: 'middle' })
      return canvas
    },
  }
}

/** The seconds of the run from left to right. */
class Time {
  constructor(
    readonly from: number,
    readonly to: number,
  ) {}

  x(second: number): number {
    return LEFT + ((RIGHT - LEFT) * (second - this.from)) / (this.to - this.from)
  }

  /** What of a series is in the picture, with its seconds. */
  within({ values }: WatchSeries, step: number): [number, number | null][] {
    const all = values.map((value, at): [number, number | null] => [at * step, value])
    return all.filter(([second]) => second >= this.from && second <= this.to)
  }
}

function drawPanel(
  canvas: Canvas,
  top: number,
  { title, unit, lines }: Panel,
  { panels, step }: WatchResults,
  time: Time,
): void {
  const series = panels[title]!.filter((each) => lines.test(each.title)).map((each) => ({
    title: each.title,
    points: time.within(each, step),
  }))
  const most = scaleOf(Math.max(...series.flatMap(({ points }) => points.map(([, value]) => value ?? 0))))
  const floor = top + 14 + HEIGHT
  const y = (value: number) => floor - (HEIGHT * value) / most
  canvas.text(LEFT, top + 6, title, { size: 12, bold: true })
  for (const value of [0, most / 2, most])
    canvas
      .line(LEFT, y(value), RIGHT, y(value), { dashed: value > 0 })
      .text(LEFT - 6, y(value) + 4, `${value}${unit && ` ${unit}`}`, { size: 10, anchor: 'end' })
  for (const [index, { title, points }] of series.entries()) {
    const colour = COLOURS[index % COLOURS.length]!
    for (const run of runsOf(points))
      canvas.curve(
        run.map(([second, value]) => [time.x(second), y(value)]),
        colour,
      )
    canvas.text(RIGHT + 12, top + 26 + index * 18, title, { size: 12, colour })
  }
}

/** The next of 1, 2, 5, 10, 20 … */
function scaleOf(most: number): number {
  const power = 10 ** Math.floor(Math.log10(most || 1))
  return [1, 2, 5, 10].map((each) => each * power).find((each) => each >= most)!
}

/** What hangs together: places without a value interrupt the line. */
function runsOf(points: readonly [number, number | null][]): [number, number][][] {
  const runs: [number, number][][] = [[]]
  for (const [second, value] of points)
    if (value !== null) runs.at(-1)!.push([second, value])
    else if (runs.at(-1)!.length > 0) runs.push([])
  return runs.filter((run) => run.length > 1)
}
