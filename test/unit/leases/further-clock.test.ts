import { expect } from 'chai'
import { FurtherClock } from '../../../src/leases/further-clock'

describe('The clock that advances further', () => {
  let clock: FurtherClock

  beforeEach(() => {
    clock = new FurtherClock()
    clock.timeAt({ monotonic: 0, wall: 1_000 })
  })

  it('A wall clock that is set forward counts, and one that is set back does not', () => {
    expect(clock.timeAt({ monotonic: 10, wall: 1_510 })).to.equal(510)
    expect(clock.timeAt({ monotonic: 20, wall: 520 })).to.equal(520)
    expect(clock.timeAt({ monotonic: 30, wall: 630 })).to.equal(630)
  })

  it('Small steps forward count once they are more than a few milliseconds together', () => {
    expect(clock.timeAt({ monotonic: 10, wall: 1_013 })).to.equal(10)
    expect(clock.timeAt({ monotonic: 20, wall: 1_026 })).to.equal(26)
  })
})
