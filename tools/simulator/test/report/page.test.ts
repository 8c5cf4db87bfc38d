import { expect } from 'chai'
import { page } from '../../report/page'

const SEARCH = {
  ...{ commit: 'abc1234', command: 'npm run simulate', from: 1, schedules: 120_000, sections: 12_000_000 },
  ...{
    violations: 0,
    virtualMs: 4e10,
    seconds: 2_000,
    scenes: { plain: { schedules: 120_000, sections: 12_000_000 } },
  },
  faults: { kill: 5, slow: 1_200 },
}

describe('The page of the simulator', () => {
  it('Says how much was tried, which faults there were, and what each mutant took', () => {
    const mutants = [
      { name: 'one', row: 'A1', what: 'is broken', schedules: 12, sections: 100 },
      {
        ...{ name: 'two', row: 'B1', what: 'is broken, too', schedules: 3, sections: 100 },
        found: { seed: 3, scene: 'plain', rule: 'asleep', what: 'it sleeps' },
      },
    ]
    const exhaustive = [{ world: 'lock, two clients', states: 98_765, complete: 1, violations: 0 }]
    const about = new Map([['plain', 'plain locks']])
    const text = page({ search: SEARCH, mutants, exhaustive, about })
    for (const part of [
      '| critical sections | 12,000,000 |',
      '| virtual time | 1.3 years |',
      '| faults injected | 1,205 |',
      '| sections a second, on one core | 6,000 |',
      '| plain | plain locks | 120,000 | 12,000,000 |',
      '| slow | 1,200 |\n| kill | 5 |',
      '| lock, two clients | 98,765 | at most 1 | 0 |',
      '1 of 2.',
      '| one | A1 | is broken | **not found** | – | 12 |',
      '| two | B1 | is broken, too | asleep | 3, plain | 3 |',
    ])
      expect(text).to.include(part)
  })

  it('Leaves out what has not run', () => {
    const text = page({ search: SEARCH, mutants: undefined, exhaustive: undefined, about: new Map() })
    expect(text).not.to.include('Mutants').and.not.to.include('small worlds')
  })
})
