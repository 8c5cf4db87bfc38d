import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { createRedisson, uniqueName } from '../kit/clients'

describe('A read hold with a level whose lease has ended', () => {
  it("is told of its end when its last level's release is sent, not answered (V119)", async () => {
    const redisson = await createRedisson()
    const reader = redisson.getReadWriteLock(uniqueName('ended-read')).readLock()
    await redisson.run(async () => {
      const short = await reader.acquire({ leaseTime: 100 })
      const long = await reader.acquire()
      const { signal } = short
      await sleep(200)
      expect(signal.aborted).to.equal(false)
      const unlocking = long.unlock()
      // Promises only: no answer of the server can arrive meanwhile.
      for (let turns = 0; turns < 20; turns++) await Promise.resolve()
      expect(signal.aborted).to.equal(true)
      await unlocking
    })
  })
})
