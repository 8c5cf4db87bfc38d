import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { page } from '../../report/page'
import { keepExhaustive, keepMutants, keepSearch, nextSeed, readResults } from '../../report/results'
import { newTotals } from '../../totals'

const ABOUT = new Map([['plain', 'plain locks']])
const MUTANTS = [
  { name: 'one', row: 'A1', what: 'is broken', schedules: 12, sections: 100 },
  {
    ...{ name: 'two', row: 'B1', what: 'is broken, too', schedules: 3, sections: 100 },
    found: { seed: 3, scene: 'plain', rule: 'asleep', what: 'it sleeps' },
  },
]

function totalsOf(schedules: number, cost = 1) {
  const sections = schedules * 100
  const scenes = new Map([
    ['plain', { schedules, sections, timed: sections / 2, cpuMs: (sections / 10) * cost }],
  ])
  const faults = new Map(Object.entries({ kill: 5, slow: schedules / 100 }))
  return { ...newTotals(), schedules, sections: schedules * 100, virtualMs: 4e10, scenes, faults }
}

describe('The page of the simulator', () => {
  let file = ''
  beforeEach(() => {
    file = join(mkdtempSync(join(tmpdir(), 'simulator-')), 'results.json')
  })
  afterEach(() => rmSync(join(file, '..'), { recursive: true }))

  const run = { commit: 'abc1234', command: 'npm run simulate -- --keep', jobs: 2, seconds: 1_000 }

  it('Says how much all kept runs tried, how fast the newest commit is, which faults there were, and what each mutant took', () => {
    keepSearch({ ...run, from: 9, commit: 'old1234', seconds: 9_000 }, totalsOf(1_000, 9), file)
    keepSearch({ ...run, from: 1 }, totalsOf(20_000), file)
    const priorities = { command: 'npm run simulate -- --pct 3', node: 'v24.1.0' }
    keepSearch({ ...run, ...priorities, from: 100_001 }, totalsOf(20_000), file)
    keepMutants(MUTANTS, file)
    keepExhaustive([{ world: 'lock, two clients', states: 98_765, complete: 1, violations: 0 }], file)
    const text = page(readResults(file), ABOUT)
    for (const part of [
      '| `npm run simulate -- --keep` | abc1234 | – | 1 | 20,000 | 2,000,000 | 16.7 minutes | 2 |',
      '| `npm run simulate -- --pct 3` | abc1234 | v24.1.0 | 100,001 |',
      '| critical sections | 4,100,000 |',
      '| virtual time | 3.8 years |',
      '| faults injected | 425 |',
      '| sections a second, in each process, on the newest commit | 1,000 |',
      '| sections a second of processor time, on the newest commit | 5,000 |',
      '| plain | plain locks | 41,000 | 4,100,000 | 5,000 |',
      '| slow | 410 |\n| kill | 15 |',
      '| lock, two clients | 98,765 | at most 1 | 0 |',
      '1 of 2.',
      '| one | A1 | is broken | **not found** | – | 12 |',
      '| two | B1 | is broken, too | asleep | 3, plain | 3 |',
    ])
      expect(text).to.include(part)
  })

  it('A run that is kept again is the same run, and the next one begins behind it', () => {
    expect(nextSeed(file)).to.equal(1)
    keepSearch({ ...run, from: 1 }, totalsOf(100), file)
    keepSearch({ ...run, from: 1 }, totalsOf(300), file)
    expect(readResults(file).runs.map(({ schedules }) => schedules)).to.deep.equal([300])
    expect(nextSeed(file)).to.equal(301)
  })

  it('A mutant that runs again takes the place of what was kept of it', () => {
    keepMutants(MUTANTS, file)
    keepMutants([{ ...MUTANTS[0]!, schedules: 13 }], file)
    expect(readResults(file).mutants.map(({ name, schedules }) => [name, schedules])).to.deep.equal([
      ['one', 13],
      ['two', 3],
    ])
  })

  it('Leaves out what has not run', () => {
    keepSearch({ ...run, from: 1 }, totalsOf(100), file)
    expect(page(readResults(file), ABOUT))
      .not.to.include('Mutants')
      .and.not.to.include('small worlds')
  })
})
