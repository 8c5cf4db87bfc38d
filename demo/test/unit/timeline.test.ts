import { expect } from 'chai'
import type { Section } from '../../evidence'
import { type Cell, MS_PER_COLUMN, timeline } from '../../timeline'

const ROWS = ['node-1', 'java']
const SIGNS: Record<Cell, string> = { idle: '.', held: '#', overlap: 'X' }

describe("The demo's timeline", () => {
  it('The timeline shows which callers were inside, up to now for callers that still are', () => {
    expect(drawn([section('node-1', 0, 2), section('java', 3, undefined)], 5)).to.deep.equal([
      '##...',
      '...##',
    ])
  })

  it('The timeline gives a column with a handoff to the process that had more of it', () => {
    expect(drawn([section('node-1', 0, 1.6), section('java', 1.6, 3)], 3)).to.deep.equal(['##.', '..#'])
  })

  it('The timeline marks overlaps in every row they touch', () => {
    const both = [section('node-1', 0, 2, true), section('java', 1, 3, true)]
    expect(drawn(both, 3)).to.deep.equal(['#X.', '.X#'])
  })

  it('The timeline shows the last columns only', () => {
    expect(drawn([section('java', 0, 1), section('node-1', 1, 4)], 4, 2)).to.deep.equal(['##', '..'])
  })
})

/** Times in columns. */
function section(who: string, from: number, to: number | undefined, overlaps = false): Section {
  const end = to === undefined ? {} : { to: to * MS_PER_COLUMN }
  return { who, thread: 'a', waitMs: 0, from: from * MS_PER_COLUMN, ...end, overlaps, owner: undefined }
}

function drawn(sections: Section[], until: number, columns = until): string[] {
  return timeline(sections, ROWS, until * MS_PER_COLUMN, columns).map((cells) =>
    cells.map((cell) => SIGNS[cell]).join(''),
  )
}
