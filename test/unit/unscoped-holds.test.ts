import { expect } from 'chai'
import type { OwnedHold } from '../../src/ownership/caller'
import { UnscopedHolds } from '../../src/ownership/unscoped-holds'

describe('The holds of callers without a scope', () => {
  const holdOf = (isLive: () => boolean) => ({ thread: undefined, checkLive: isLive }) as unknown as OwnedHold

  it('A lock object does not keep each hold whose lease ended without an unlock() (V96)', () => {
    const holds = new UnscopedHolds<OwnedHold>()
    for (let i = 0; i < 10_000; i++) holds.add(holdOf(() => false))
    expect(Reflect.get(holds, 'live')).to.have.length.below(1_000)
    expect(Reflect.get(holds, 'ended')).to.have.length.below(1_000)
  })

  it('Each of many live holds can be released, and after them each that was forgotten is told', () => {
    const holds = new UnscopedHolds<OwnedHold>()
    let areLive = true
    for (let i = 0; i < 1_000; i++) holds.add(holdOf(() => areLive))
    expect(holds.take(undefined)).to.be.an('object')
    areLive = false
    const told = Array.from({ length: 999 }, () => holds.take(undefined))
    expect(told.filter((each) => each === 'forgotten')).to.have.lengthOf(899)
    expect(told).not.to.include(undefined)
    expect(holds.take(undefined)).to.equal(undefined)
  })
})
