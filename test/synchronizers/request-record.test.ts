import { expect } from 'chai'
import type { Redis } from 'ioredis'
import type { Redisson } from '../../src/index'
import { closeAll, createRedisson, openRedis, uniqueName } from '../kit/clients'

/** One request in so many says what may be forgotten; those behind it are in the record. */
const MOST_KEPT = 16

describe('The request record of objects without owners', () => {
  let redis: Redis
  let redisson: Redisson

  beforeEach(async () => {
    redis = await openRedis()
    redisson = await createRedisson()
  })
  afterEach(closeAll)

  const kept = (name: string) => redis.hlen(`rlock_requests:{${name}}:${redisson.getId()}`)

  async function newNames(count: number, permits: number): Promise<string[]> {
    const names = Array.from({ length: count }, () => uniqueName('semaphore'))
    for (const name of names) await redisson.getSemaphore(name).trySetPermits(permits)
    return names
  }

  for (const anew of [false, true])
    it(`A request record drops the answers that the client has seen, also if callers nest their semaphores, ${anew ? 'each call by an object of its own' : 'by the same objects'} (S2)`, async () => {
      for (const depth of [1, 2, 4, 8]) {
        const names = await newNames(depth, 1)
        const objects = names.map((name) => redisson.getSemaphore(name))
        const semaphore = (index: number) => (anew ? redisson.getSemaphore(names[index]!) : objects[index]!)
        for (let round = 0; round < 20; round++) {
          for (let index = 0; index < depth; index++) await semaphore(index).acquire()
          for (let index = depth; index-- > 0; ) await semaphore(index).release()
        }
        for (const name of names) expect(await kept(name), `nested ${depth} deep`).to.be.at.most(MOST_KEPT)
      }
    })

  it('A record grows with the requests in flight, and forgets them after that (S2)', async () => {
    const CALLERS = 500
    const [name] = await newNames(1, CALLERS)
    const semaphore = redisson.getSemaphore(name!)
    for (let round = 0; round < 3; round++) {
      await Promise.all(Array.from({ length: CALLERS }, () => semaphore.acquire()))
      await Promise.all(Array.from({ length: CALLERS }, () => semaphore.release()))
      expect(await kept(name!)).to.be.at.most(3 * CALLERS)
    }
    for (let each = 0; each < CALLERS + MOST_KEPT; each++) {
      await semaphore.acquire()
      await semaphore.release()
    }
    expect(await kept(name!)).to.be.at.most(MOST_KEPT)
    expect(await semaphore.availablePermits()).to.equal(CALLERS)
  })
})
