import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import type { Redisson } from '../../src/index'
import { createRedisson, uniqueName } from '../kit/clients'
import { withClients } from './rlock-tests'

/** Redisson's own tests of RReadWriteLock with many threads or clients; each reads or writes by chance, and none beside a writer. */
describe("Redisson's tests of many on a read-write lock", () => {
  it('RedissonReadWriteLockTest.testConcurrency_SingleInstance: fifteen threads read or write', async () => {
    const redisson = await createRedisson()
    const sections = new Sections()
    await Promise.all(Array.from({ length: 15 }, () => sections.oneOf(redisson)))
    expect(sections.done).to.equal(15)
  })

  it('RedissonReadWriteLockTest.testConcurrencyLoop_MultiInstance: sixteen clients', async () => {
    const sections = new Sections(5)
    await withClients(16, async (redisson) => {
      for (let i = 0; i < 15; i++) await sections.oneOf(redisson)
    })
    expect(sections.done).to.equal(16 * 15)
  })

  it('RedissonReadWriteLockTest.testConcurrency_MultiInstance: a hundred clients read or write', async () => {
    const sections = new Sections()
    await withClients(100, (redisson) => sections.oneOf(redisson))
    expect(sections.done).to.equal(100)
  })
})

/** Goes through a lock and checks that no other caller is in there with a writer. */
class Sections {
  done = 0
  private readonly name = uniqueName()
  private readonly inside = { read: 0, write: 0 }

  constructor(private readonly holdMs = 0) {}

  async oneOf(redisson: Redisson): Promise<void> {
    const side = Math.random() < 0.5 ? 'read' : 'write'
    await redisson.run(async () => {
      // Another object each time, as there: the thread holds it, not the object.
      const lock = () => redisson.getReadWriteLock(this.name)[`${side}Lock`]()
      await lock().lock()
      this.inside[side]++
      if (this.inside.write > 0) expect(this.inside.read + this.inside.write).to.equal(1)
      await sleep(this.holdMs)
      this.done++
      this.inside[side]--
      await lock().unlock()
    })
  }
}
