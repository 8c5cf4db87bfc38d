import { expect } from 'chai'
import { createColors } from 'picocolors'
import type { Section } from '../../evidence'
import { readWriteDrawing } from '../../read-write/mode'
import { MS_PER_COLUMN } from '../../timeline'

const ROWS = ['node-1', 'java']

describe("The demo's timeline of a read-write lock", () => {
  it('The read-write timeline shows readers side by side, counts of them, and writers', () => {
    const sections = [read('node-1', 0, 4), read('java', 1, 3), read('node-1', 2, 4), write('java', 4, 5)]
    expect(drawn(sections, 6)).to.deep.equal(['rr22..', '.rr.W.'])
  })

  it('The timeline of a read-write lock does not make two readers out of one after the other', () => {
    expect(drawn([read('node-1', 0, 1.4), read('node-1', 1.4, 2), read('java', 1.5, 3)], 3)).to.deep.equal([
      'rr.',
      '..r',
    ])
  })

  it('The read-write timeline gives a mixed column to the process that had more of it', () => {
    expect(drawn([read('node-1', 0, 1.4), write('java', 1.4, 3)], 3)).to.deep.equal(['r..', '.WW'])
  })

  it('The read-write timeline marks each row in which a writer had company, and no other', () => {
    const alone = [read('node-1', 0, 3, true), read('java', 0, 1, true), write('java', 2, 3, true)]
    expect(drawn(alone, 3)).to.deep.equal(['rrX', 'r.X'])
  })
})

function read(who: string, from: number, to: number, overlaps = false): Section {
  return section('read', who, from, to, overlaps)
}

function write(who: string, from: number, to: number, overlaps = false): Section {
  return section('write', who, from, to, overlaps)
}

/** Times in columns. */
function section(side: 'read' | 'write', who: string, from: number, to: number, overlaps: boolean): Section {
  const span = { from: from * MS_PER_COLUMN, to: to * MS_PER_COLUMN }
  return { who, thread: 'a', side, waitMs: 0, ...span, overlaps, owner: undefined }
}

function drawn(sections: Section[], until: number): string[] {
  const look = { columns: 80, colors: createColors(false), ascii: true }
  return readWriteDrawing
    .signs(sections, ROWS, until * MS_PER_COLUMN, until, look)
    .map((signs) => signs.join(''))
}
