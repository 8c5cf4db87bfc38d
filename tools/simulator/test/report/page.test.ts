import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { keepExhaustive, keepMutants, keepSearch, readResults, table } from '../../report/results'
import { newTotals } from '../../totals'

const PAGE = join(__dirname, '../../../../docs/evidence/reliability.md')
const README = join(__dirname, '../../README.md')
const MUTANTS = [
  { name: 'one', schedules: 12 },
  { name: 'two', schedules: 3, found: { seed: 3, scene: 'plain', rule: 'asleep' } },
]

function totalsOf(schedules: number) {
  const faults = new Map(Object.entries({ kill: 5, slow: schedules / 100 }))
  return { ...newTotals(), schedules, sections: schedules * 100, virtualMs: 4e10, faults }
}

describe('The table of the simulator', () => {
  let file = ''
  beforeEach(() => {
    file = join(mkdtempSync(join(tmpdir(), 'simulator-')), 'results.json')
  })
  afterEach(() => rmSync(join(file, '..'), { recursive: true }))

  it('The table of the simulator says how much all kept runs tried and found', () => {
    keepSearch(readResults(file), 1, totalsOf(20_000), file)
    keepSearch(readResults(file), 100_001, totalsOf(20_000), file)
    keepMutants(MUTANTS, file)
    keepExhaustive([{ world: 'lock', states: 98_765, complete: 1, violations: 0 }], file)
    keepExhaustive([{ world: 'red', states: 10, violations: 2 }], file)
    const text = table(readResults(file))
    for (const part of [
      '| 40,000 |',
      '| critical sections | 4,000,000 |',
      '| virtual time | 2.5 years |',
      '| faults injected | 410 |',
      '| small worlds, of which every order was run | 1 of 2 |',
      '| their states | 98,775 |',
      '| **violations in small worlds** | **2** |',
      '| mutants that were caught | 1 of 2 |',
    ])
      expect(text).to.include(part)
    expect(readFileSync(file, 'utf8').split('\n')).to.have.lengthOf.at.most(10)
  })

  it('A run that is kept again takes its own place, and the next one begins behind it', () => {
    const before = readResults(file)
    expect(before.search.next).to.equal(1)
    keepSearch(before, 1, totalsOf(100), file)
    keepSearch(before, 1, totalsOf(300), file)
    expect(readResults(file).search).to.include({ schedules: 300, next: 301 })
  })

  it('A mutant that runs again takes the place of what was kept of it', () => {
    keepMutants(MUTANTS, file)
    keepMutants([{ ...MUTANTS[1]!, schedules: 13 }], file)
    expect(readResults(file).mutants).to.deep.equal({ one: null, two: 13 })
  })

  it('The page about reliability and the README have the table of the kept results', () => {
    for (const page of [PAGE, README])
      expect(readFileSync(page, 'utf8')).to.contain(
        `<!-- simulator: results -->\n\n${table(readResults())}\n\n<!-- /simulator -->`,
      )
  })
})
