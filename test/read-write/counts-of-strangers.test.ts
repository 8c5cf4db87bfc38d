import { expect } from 'chai'
import { Redis } from 'ioredis'
import type { Redisson } from '../../src/index'
import { createRedisson, uniqueName } from '../kit/clients'
import { look, readTimeoutKey } from '../kit/read-write/state'
import type { Standalone } from '../kit/servers/index'
import { onInMemoryServers, startServer } from '../kit/stand-in'

/** 2^53 - 1: a script that went through so many levels would hold the server up for years. */
const COUNT = '9007199254740991'
const STRANGER = '11111111-2222-3333-4444-555555555555:1'
/** A busy machine may send a renewal a second late. */
const LEASE = 3_000
/** Much longer than any script needs, and shorter than the lua-time-limit of Redis. */
const AT_ONCE = 2_000

for (const where of ['Redis', 'memory'])
  describe(`Read-write lock, in ${where}: a hold count that another program wrote`, () => {
    if (where === 'memory') onInMemoryServers()

    let server: Standalone
    let redis: Redis
    let client: Redisson
    let name: string

    // A server of its own: were a script to hold it up, only SIGKILL would end it.
    before(async () => {
      server = await startServer()
      redis = new Redis(server.url)
    })
    after(async () => {
      redis.disconnect()
      await server.stop()
    })
    beforeEach(async () => {
      name = uniqueName('rw')
      client = await createRedisson({ redis: server.url, lockWatchdogTimeout: LEASE })
    })

    const sides = () => client.getReadWriteLock(name)
    const ttl = (owner: string, level: number) => redis.pttl(readTimeoutKey(name, owner, level))
    const owners = async () => Object.keys((await look(redis, name)).fields)

    async function atOnce<T>(action: () => Promise<T>): Promise<T> {
      const begun = Date.now()
      const value = await action()
      expect(Date.now() - begun).to.be.below(AT_ONCE)
      return value
    }

    it('A reader beside another releases at once, and the lock stays with the other', async () => {
      const hold = await sides().readLock().acquire()
      await redis.hset(name, STRANGER, COUNT)
      await redis.set(readTimeoutKey(name, STRANGER, 3), '1', 'PX', 60_000)
      await atOnce(() => hold.unlock())
      expect(await owners()).to.deep.equal([STRANGER])
      expect(await redis.pttl(name)).to.be.above(50_000)
    })

    it('A reader beside it frees the lock where the other one has no level', async () => {
      const hold = await sides().readLock().acquire()
      await redis.hset(name, STRANGER, COUNT)
      await atOnce(() => hold.unlock())
      expect(await redis.exists(name)).to.equal(0)
    })

    it('A writer that reads as well steps down at once', async () => {
      const write = await sides().writeLock().acquire()
      const [owner] = (await owners()).map((field) => field.replace(/:write$/, ''))
      await redis.hset(name, owner!, COUNT)
      await redis.set(readTimeoutKey(name, owner!, 1), '1', 'PX', 60_000)
      await atOnce(() => write.unlock())
      expect(await owners()).to.deep.equal([owner])
    })

    it('A read hold with a raised count is renewed at its levels and the top, then released', async () => {
      const hold = await sides().readLock().acquire()
      const [owner] = await owners()
      await redis.hset(name, owner!, COUNT)
      await new Promise((resolve) => setTimeout(resolve, 1.5 * LEASE))
      expect(hold.isHeld).to.equal(true)
      expect(await ttl(owner!, 1)).to.be.above(0)
      expect(Object.keys((await look(redis, name)).readTimeouts)).to.have.members([
        `${owner}#1`,
        `${owner}#${COUNT}`,
      ])
      await atOnce(() => hold.unlock())
      expect(await redis.keys(`*${name}*`)).to.deep.equal([])
    })

    it('forceUnlock() of either side frees the lock at once', async () => {
      await redis.hset(name, 'mode', 'read', STRANGER, COUNT)
      expect(await atOnce(() => sides().readLock().forceUnlock())).to.equal(true)
      await redis.hset(name, 'mode', 'write', `${STRANGER}:write`, '1', STRANGER, COUNT)
      expect(await atOnce(() => sides().writeLock().forceUnlock())).to.equal(true)
      expect(await redis.keys(`*${name}*`)).to.deep.equal([])
    })

    it('Each level of a hold of 2,500 levels is renewed and released, past a gap too', async () => {
      const hold = await sides().readLock().acquire()
      const [owner] = await owners()
      await redis.hset(name, owner!, 2_500)
      const present = Array.from({ length: 2_500 }, (_, i) => i + 1).filter(
        (level) => level < 5 || level > 900,
      )
      const placing = redis.multi()
      for (const level of present) placing.set(readTimeoutKey(name, owner!, level), '1', 'PX', LEASE)
      await placing.exec()
      await new Promise((resolve) => setTimeout(resolve, 1.5 * LEASE))
      const { readTimeouts } = await look(redis, name)
      expect(Object.keys(readTimeouts)).to.have.members(present.map((level) => `${owner}#${level}`))
      await hold.unlock()
      expect(await redis.keys(`*${name}*`)).to.deep.equal([])
    })
  })
