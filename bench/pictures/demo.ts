import { Canvas, type Colour } from './canvas'
import type { Picture } from './pictures'

/** The last second of a run of `npm run demo`, as it printed it. */
const ROWS: readonly (readonly [process: string, turns: string, colour: Colour])[] = [
  ['node-1', '#...........###..............#.....#....##...................###', 'blue'],
  ['node-2', '.###...........##.............##..........##...............##...', 'green'],
  ['node-3', '......###........##.......##.....##...##........#.......###.....', 'orange'],
  ['java', '....##...###.......#######..#...#...##......####.#######........', 'purple'],
]
const CELL = 10
const LEFT = 90
const ROW = 30

export const demoPicture: Picture = {
  name: 'demo',
  title:
    'What npm run demo prints: one second of three Node processes and a Java process that take one lock in turns. At no moment are two of them inside.',
  draw(theme) {
    const right = LEFT + ROWS[0]![1].length * CELL
    const bottom = 44 + ROWS.length * ROW
    const canvas = new Canvas(theme, right + 20, bottom + 52)
    canvas.text(16, 28, '$ npm run demo', { size: 12, bold: true, colour: 'green' })
    for (const [at, [process, turns, colour]] of ROWS.entries()) {
      const y = 44 + at * ROW
      canvas.text(16, y + 16, process, { size: 12, bold: true })
      for (const { index, 0: turn } of turns.matchAll(/#+/g))
        canvas.bar(LEFT + index * CELL, y, turn.length * CELL, '', colour, { height: 22 })
    }
    return canvas
      .line(LEFT, bottom, right, bottom)
      .text(LEFT, bottom + 16, '1.0 s ago', { size: 11 })
      .text(right, bottom + 16, 'now', { size: 11, anchor: 'end' })
      .text(16, bottom + 40, 'OK: 0 overlaps, and handoffs in all four directions', { size: 12 })
  },
}
