import { expect } from 'chai'
import { createColors } from 'picocolors'
import type { Section } from '../../evidence'
import { readWriteDrawing } from '../../read-write/mode'
import { type Cell, MS_PER_COLUMN, timeline } from '../../timeline'

const ROWS = ['node-1', 'java']
const SIGNS: Record<Cell, string> = { idle: '.', held: '#', overlap: 'X' }

describe("The demo's timeline", () => {
  it('The timeline shows which callers were inside, up to now for callers that still are', () => {
    expect(plain([held('node-1', 0, 2), held('java', 3, undefined)], 5)).to.deep.equal(['##...', '...##'])
  })

  it('The timeline gives a column with a handoff to the process that had more of it', () => {
    expect(plain([held('node-1', 0, 1.6), held('java', 1.6, 3)], 3)).to.deep.equal(['##.', '..#'])
  })

  it('The timeline marks overlaps in every row they touch', () => {
    const both = [held('node-1', 0, 2, true), held('java', 1, 3, true)]
    expect(plain(both, 3)).to.deep.equal(['#X.', '.X#'])
  })

  it('The timeline shows the last columns only', () => {
    expect(plain([held('java', 0, 1), held('node-1', 1, 4)], 4, 2)).to.deep.equal(['##', '..'])
  })
})

describe("The demo's timeline of a read-write lock", () => {
  it('The read-write timeline shows readers side by side, counts of them, and writers', () => {
    const sections = [read('node-1', 0, 4), read('java', 1, 3), read('node-1', 2, 4), write('java', 4, 5)]
    expect(sides(sections, 6)).to.deep.equal(['rr22..', '.rr.W.'])
  })

  it('The timeline of a read-write lock does not make two readers out of one after the other', () => {
    expect(sides([read('node-1', 0, 1.4), read('node-1', 1.4, 2), read('java', 1.5, 3)], 3)).to.deep.equal([
      'rr.',
      '..r',
    ])
  })

  it('The read-write timeline gives a mixed column to the process that had more of it', () => {
    expect(sides([read('node-1', 0, 1.4), write('java', 1.4, 3)], 3)).to.deep.equal(['r..', '.WW'])
  })

  it('The read-write timeline marks each row in which a writer had company, and no other', () => {
    const alone = [read('node-1', 0, 3, true), read('java', 0, 1, true), write('java', 2, 3, true)]
    expect(sides(alone, 3)).to.deep.equal(['rrX', 'r.X'])
  })
})

/** Times in columns. */
function held(who: string, from: number, to: number | undefined, overlaps = false): Section {
  const end = to === undefined ? {} : { to: to * MS_PER_COLUMN }
  return { who, thread: 'a', waitMs: 0, from: from * MS_PER_COLUMN, ...end, overlaps, owner: undefined }
}

function read(who: string, from: number, to: number, overlaps = false): Section {
  return { ...held(who, from, to, overlaps), side: 'read' }
}

function write(who: string, from: number, to: number, overlaps = false): Section {
  return { ...held(who, from, to, overlaps), side: 'write' }
}

function plain(sections: Section[], until: number, columns = until): string[] {
  return timeline(sections, ROWS, until * MS_PER_COLUMN, columns).map((cells) =>
    cells.map((cell) => SIGNS[cell]).join(''),
  )
}

function sides(sections: Section[], until: number): string[] {
  const look = { columns: 80, colors: createColors(false), ascii: true }
  return readWriteDrawing
    .signs(sections, ROWS, until * MS_PER_COLUMN, until, look)
    .map((signs) => signs.join(''))
}
