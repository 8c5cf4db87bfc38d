import { expect } from 'chai'
import { TimeUnit, type TimeUnit as Unit } from '../../src/index'
import { createRedisson, openRedis, rejection, uniqueName } from '../kit/clients'

/** The class again, as another copy of the package in the process has it. */
function secondCopy(): typeof TimeUnit {
  const path = require.resolve('../../src/api/time-unit')
  const first = require.cache[path]
  delete require.cache[path]
  const copy = require(path) as { TimeUnit: typeof TimeUnit }
  require.cache[path] = first
  return copy.TimeUnit
}

describe('A TimeUnit of another copy of the package', () => {
  it('A TimeUnit of another copy of the package is taken wherever a unit is expected', async () => {
    const Other = secondCopy()
    expect(Other).to.not.equal(TimeUnit)
    const redis = await openRedis()
    const lock = (await createRedisson()).getLock(uniqueName())
    const leases: [(unit: Unit) => Promise<unknown>, number][] = [
      [(unit) => lock.lock(1, unit), 60_000],
      [(unit) => lock.tryLock(0, 1, unit), 60_000],
      [(unit) => lock.tryLock(0, unit), 30_000],
    ]
    for (const [acquire, lease] of leases) {
      await acquire(Other.MINUTES)
      expect(await redis.pttl(lock.getName())).to.be.within(lease - 10_000, lease)
      await lock.unlock()
    }
  })

  it('A TimeUnit of another copy of the package passes instanceof, and nothing else does', () => {
    const Other = secondCopy()
    expect(Other.DAYS instanceof TimeUnit).to.equal(true)
    expect(TimeUnit.DAYS instanceof Other).to.equal(true)
    for (const value of [undefined, null, 5, 'SECONDS', {}, { name: 'SECONDS', toMillis: () => 1 }, []])
      expect((value as unknown) instanceof TimeUnit).to.equal(false)
  })

  it('A TimeUnit of another copy of the package is refused where options are expected', async () => {
    const lock = (await createRedisson()).getLock(uniqueName())
    const error = await rejection(lock.lock(secondCopy().SECONDS as never))
    expect(error).to.be.instanceOf(TypeError)
  })
})
