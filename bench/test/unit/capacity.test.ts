import { expect } from 'chai'
import { commandsPerSection, renewalCommandsPerSecond, sectionsPerCohort } from '../../capacity/model'
import { parseOptions } from '../../capacity/options'
import { contentOf } from '../../capacity/report/page'

describe('Capacity of the bench', () => {
  const bounds = { mostHandoffs: 10, longestCohortMs: 20 }

  describe('The model of capacity', () => {
    it('The capacity model has cohorts end by time, by number where others wait, and at once where no other caller is here', () => {
      const sections = (processes: number, callers: number, sectionMs: number) =>
        sectionsPerCohort({ processes, callers, sectionMs }, bounds)
      expect(sections(4, 1, 0.1)).to.equal(1)
      expect(sections(4, 4, 0.1)).to.equal(11)
      expect(sections(1, 4, 0.1)).to.equal(200)
      expect(sections(4, 4, 6)).to.equal(4)
      expect(sections(4, 4, 50)).to.equal(1)
    })

    it('The capacity model counts two commands for a lock that no other caller wants, and one more for each failed try', () => {
      expect(commandsPerSection({ processes: 1, callers: 1 }, 1)).to.deep.equal({ least: 2, most: 2 })
      expect(commandsPerSection({ processes: 8, callers: 4 }, 1)).to.deep.equal({ least: 2, most: 9 })
      expect(commandsPerSection({ processes: 8, callers: 4 }, 4)).to.deep.equal({ least: 1.25, most: 3 })
    })

    it('The capacity model renews every lock each ten seconds by three commands a batch: full ones, and two a second that are not', () => {
      expect(renewalCommandsPerSecond(1_000_000)).to.deep.equal({ least: 1_000, most: 1_002 })
      expect(renewalCommandsPerSecond(100_000)).to.deep.equal({ least: 100, most: 102 })
      expect(renewalCommandsPerSecond(1_000)).to.deep.equal({ least: 1, most: 3 })
      expect(renewalCommandsPerSecond(10).most).to.equal(1)
    })
  })

  it('The capacity page takes parts by their names, and nothing that makes no sense', () => {
    expect(parseOptions(['--part', 'waiters'])!.parts.map(({ name }) => name)).to.deep.equal(['waiters'])
    expect(parseOptions(['--report'])!.parts).to.deep.equal([])
    expect(parseOptions([])!.parts).to.have.length.greaterThan(4)
    expect(parseOptions(['--help'])).to.equal(undefined)
    for (const args of [['--part', 'none'], ['--json', ''], ['--report', '--part', 'waiters'], ['--unknown']])
      expect(() => parseOptions(args), args.join(' ')).to.throw(TypeError)
  })

  it('The capacity tables say which parts were not measured', () => {
    for (const name of ['capacity-in-short', 'capacity-own-locks', 'capacity-one-lock'])
      expect(contentOf({}, name)).to.equal('Not measured yet.')
    expect(contentOf({}, 'compare')).to.equal(undefined)
  })
})
