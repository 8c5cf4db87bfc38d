import { expect } from 'chai'
import { acquireOptions, lockArguments, tryLockArguments, unlockOptions } from '../../../src/api/arguments'
import { TimeUnit } from '../../../src/index'

describe('Arguments of lock() and tryLock()', () => {
  it('A lease is milliseconds unless a unit follows, and is rounded up to whole milliseconds', () => {
    expect(lockArguments(1_500.2).leaseTime).to.equal(1_501)
    expect(lockArguments(2, TimeUnit.SECONDS).leaseTime).to.equal(2_000)
    expect(lockArguments(1, TimeUnit.NANOSECONDS).leaseTime).to.equal(1)
    expect(lockArguments({ leaseTime: 0.1 }).leaseTime).to.equal(1)
    expect(acquireOptions({ leaseTime: 4_999.2 }).leaseTime).to.equal(5_000)
    for (const [unit, ms] of [
      [TimeUnit.MICROSECONDS, 0.001],
      [TimeUnit.MILLISECONDS, 1],
      [TimeUnit.MINUTES, 60_000],
      [TimeUnit.HOURS, 3_600_000],
      [TimeUnit.DAYS, 86_400_000],
    ] as const)
      expect(lockArguments(9_000, unit).leaseTime).to.equal(9_000 * ms)
  })

  it('A lease that is absent or -1 is left to the watchdog, in every unit', () => {
    for (const given of [
      lockArguments(),
      lockArguments({}),
      lockArguments({ leaseTime: undefined, threadId: undefined }),
      lockArguments(-1),
      lockArguments(-1, TimeUnit.DAYS),
      acquireOptions(),
    ])
      expect(given.leaseTime).to.equal(undefined)
  })

  it('tryLock() takes a wait, or a wait and a lease, with one unit for both', () => {
    expect(tryLockArguments()).to.include({ waitTime: 0, leaseTime: undefined })
    expect(tryLockArguments(1, TimeUnit.SECONDS)).to.include({ waitTime: 1_000, leaseTime: undefined })
    expect(tryLockArguments(1, 2)).to.include({ waitTime: 1, leaseTime: 2 })
    expect(tryLockArguments(1, 2, TimeUnit.MINUTES)).to.include({ waitTime: 60_000, leaseTime: 120_000 })
  })

  it('A wait of 0 or less is one try', () => {
    for (const wait of [0, -1, -5_000]) expect(tryLockArguments(wait).waitTime).to.equal(0)
    expect(tryLockArguments(Infinity, TimeUnit.DAYS).waitTime).to.equal(Infinity)
  })

  it('A number out of range is a RangeError that names the argument', () => {
    for (const lease of [0, -0, -2, Number.NaN, Infinity, 2 ** 53])
      expect(() => lockArguments(lease), `${lease}`).to.throw(RangeError, /leaseTime/)
    for (const wait of [Number.NaN, -Infinity, 2 ** 53])
      expect(() => tryLockArguments(wait), `${wait}`).to.throw(RangeError, /waitTime/)
    for (const threadId of [0, -1, 1.5, Number.NaN, 2 ** 53])
      expect(() => unlockOptions({ threadId }), `${threadId}`).to.throw(RangeError, /threadId/)
    expect(() => lockArguments(2 ** 51, TimeUnit.SECONDS)).to.throw(RangeError, /leaseTime/)
  })

  it('A value of another type, an unknown option and an argument after options are TypeErrors', () => {
    for (const value of ['5', null, 5n, true, [], () => 5] as never[])
      expect(() => lockArguments({ leaseTime: value }), String(value)).to.throw(TypeError, /leaseTime/)
    expect(() => lockArguments({ leasetime: 5 } as never)).to.throw(TypeError, /unknown option leasetime/)
    expect(() => lockArguments({ leaseTime: 5 }, TimeUnit.SECONDS)).to.throw(TypeError, /nothing may follow/)
    expect(() => lockArguments({ signal: {} as AbortSignal })).to.throw(TypeError, /signal/)
    expect(() => lockArguments(5, 'SECONDS' as never)).to.throw(TypeError, /TimeUnit/)
  })
})
