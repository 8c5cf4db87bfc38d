import { expect } from 'chai'
import { ABANDON, BareLevels, type OwnedLevel, TIME_LEFT } from '../../../src/ownership/bare-levels'
import type { LogicalThread } from '../../../src/ownership/logical-thread'

interface TestLevel extends OwnedLevel {
  [TIME_LEFT]: number
}

describe('The levels that lock() and tryLock() of one caller acquired', () => {
  const levelOf = (timeLeft = Number.POSITIVE_INFINITY, thread?: LogicalThread): TestLevel => ({
    hold: { holder: '' },
    thread,
    bareIn: undefined,
    [TIME_LEFT]: timeLeft,
  })
  const anyLevel = () => true

  const take = (levels: BareLevels<TestLevel>) => {
    const found = levels.endedFirst(anyLevel)
    if (found) levels.remove(found.level)
    return found
  }

  it('Ended levels that no unlock() ends are not kept, and what is left of them is released (V96)', () => {
    const levels = new BareLevels<TestLevel>()
    let abandoned = 0
    const abandon = () => {
      abandoned++
    }
    for (let i = 0; i < 10_000; i++) levels.add({ ...levelOf(0), [ABANDON]: abandon })
    expect([...levels]).to.have.length.below(1_000)
    expect(abandoned).to.equal(10_000 - [...levels].length)
  })

  it('Each of many live levels can be ended, and each that was forgotten is told', () => {
    const levels = new BareLevels<TestLevel>()
    const all = Array.from({ length: 1_000 }, () => levelOf())
    for (const each of all) levels.add(each)
    expect(take(levels)!.level).to.equal(all[0])
    for (const each of all) each[TIME_LEFT] = 0
    for (let i = 0; i < 2_000; i++) levels.add(levelOf(0))
    const told = Array.from({ length: 2_999 }, () => take(levels))
    expect(told).not.to.include(undefined)
    expect(told.filter((each) => each!.level === undefined)).to.have.length.above(1_000)
    expect(take(levels)).to.equal(undefined)
    expect(levels.isEmpty).to.equal(true)
  })

  it('Without a thread, an ended level comes first, then the one whose time is over first', () => {
    const levels = new BareLevels<TestLevel>()
    const [endless, long, short, ended] = [levelOf(), levelOf(900), levelOf(100), levelOf(0)]
    for (const each of [endless, long, short, ended]) levels.add(each)
    expect([1, 2, 3, 4].map(() => take(levels)!.level)).to.deep.equal([ended, short, long, endless])
  })

  it('A thread ends its own newest level, then one that an ended thread left, and none of a thread that is alive', () => {
    const levels = new BareLevels<TestLevel>()
    const [self, other, gone] = [true, true, false].map((isAlive) => ({ isAlive }) as LogicalThread)
    const left = levelOf(undefined, gone)
    const [first, second] = [levelOf(undefined, self), levelOf(0, self)]
    for (const each of [first, second, left, levelOf(undefined, other)]) levels.add(each)
    const ended = [1, 2, 3, 4].map(() => {
      const found = levels.newest(self)
      if (found) levels.remove(found.level)
      return found?.level
    })
    expect(ended).to.deep.equal([second, first, left, undefined])
  })
})
