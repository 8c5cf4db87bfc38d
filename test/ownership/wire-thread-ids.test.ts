import { expect } from 'chai'
import { Redisson } from '../../src/index'
import { loadAnotherCopy } from '../kit/another-copy'
import { createRedisson, uniqueName } from '../kit/clients'
import { clientAndRedis, lock, name, redis, redisson } from '../kit/each-test'
import { ownerOf, wireThreadId } from '../kit/observing'
import { sharedStandalone } from '../kit/servers/index'

describe('Thread ids on the wire', () => {
  clientAndRedis('wire')

  it('Thread ids on the wire are new with every hold, for every kind of caller', async () => {
    const seen: number[] = []
    const look = async () => {
      seen.push(await wireThreadId(redis, name))
    }
    for (let round = 0; round < 3; round++) {
      await lock.lock()
      await look()
      await lock.unlock()
      await lock.lock({ threadId: 1 })
      await look()
      await lock.unlock({ threadId: 1 })
      await redisson.run(async () => {
        await lock.lock()
        await look()
        await lock.unlock()
        await lock.lock()
        await look()
        await lock.unlock()
      })
      await lock.withLock(look)
      const hold = await lock.acquire()
      expect(hold.threadId).to.equal(await wireThreadId(redis, name))
      await look()
      await hold.unlock()
    }
    expect(seen).to.have.length(18)
    expect(new Set(seen).size, `of ${seen}`).to.equal(18)
    for (const id of seen) expect(id).to.satisfy((each: number) => Number.isSafeInteger(each) && each > 0)
  })

  it('Thread ids on the wire stay the same from the first acquire to the last release', async () => {
    await redisson.run(async () => {
      await lock.lock()
      const { field } = await ownerOf(redis, name)
      expect(field.startsWith(`${redisson.getId()}:`)).to.equal(true)
      await lock.lock(60_000)
      const hold = await lock.acquire()
      expect(await ownerOf(redis, name)).to.deep.equal({ field, count: 3 })
      await hold.unlock()
      await lock.unlock()
      expect(await ownerOf(redis, name)).to.deep.equal({ field, count: 1 })
      await lock.unlock()
    })
  })

  it('Thread ids on the wire are one count for all clients and copies of a process', async () => {
    const another = loadAnotherCopy()
    expect(another.Redisson).to.not.equal(Redisson)
    const theirs = await another.Redisson.create({ redis: (await sharedStandalone()).url })
    try {
      const clients = [redisson, theirs, await createRedisson()]
      // Each above the last: two counters would sooner or later meet.
      let last = 0
      for (let round = 0; round < 4; round++)
        for (const client of clients) {
          const hold = await client.getLock(name).acquire()
          expect(await wireThreadId(redis, name)).to.equal(hold.threadId)
          expect(hold.threadId).to.be.above(last)
          last = hold.threadId
          await hold.unlock()
        }
    } finally {
      await theirs.shutdown({ timeout: 0 })
    }
  })

  it('Thread ids and logical threads are shared by the copies of the package', async () => {
    const another = loadAnotherCopy()
    const theirs = await another.Redisson.create({ redis: (await sharedStandalone()).url })
    try {
      const lock = theirs.getLock(name)
      // Opened through one copy, meant by the other.
      await redisson.run(async () => {
        await lock.lock()
        expect(await lock.tryLock()).to.equal(true)
        await redisson.getLock(uniqueName('wire')).withLock(async () => {
          expect(await lock.tryLock()).to.equal(true)
          await lock.unlock()
        })
        await lock.unlock()
        await lock.unlock()
      })
      expect(await lock.isLocked()).to.equal(false)
    } finally {
      await theirs.shutdown({ timeout: 0 })
    }
  })
})
