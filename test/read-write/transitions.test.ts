import { expect } from 'chai'
import type { Redis } from 'ioredis'
import type { Redisson, RReadWriteLock } from '../../src/index'
import { closeAll, createRedisson, openRedis, rejection, uniqueName } from '../support/clients'
import { expectNothingLeft, look, messagesOf, shape } from './looking'

/** The tables of the protocol, row by row: what each operation leaves in Redis and tells. */
describe('read-write lock: transitions', () => {
  let redisson: Redisson
  let redis: Redis
  let name: string
  let rw: RReadWriteLock
  let messages: string[]

  beforeEach(async () => {
    redisson = await createRedisson()
    redis = await openRedis()
    name = uniqueName('rw')
    rw = redisson.getReadWriteLock(name)
    messages = await messagesOf(await openRedis(), name)
  })
  afterEach(closeAll)

  const read = (threadId: number, leaseTime?: number) => rw.readLock().tryLock({ threadId, leaseTime })
  const write = (threadId: number, leaseTime?: number) => rw.writeLock().tryLock({ threadId, leaseTime })
  const unread = (threadId: number) => rw.readLock().unlock({ threadId })
  const unwrite = (threadId: number) => rw.writeLock().unlock({ threadId })
  /** Messages are ordered with our own commands on the server, but arrive by another connection. */
  const told = async () => {
    await redis.publish(`redisson_rwlock:{${name}}`, 'end')
    while (!messages.includes('end')) await new Promise((resolve) => setImmediate(resolve))
    return messages.splice(0).filter((each) => each !== 'end')
  }

  describe('read acquire', () => {
    it('of a free lock: mode, field, clock and lease', async () => {
      const hold = await rw.readLock().acquire({ leaseTime: 5_000 })
      const field = `${redisson.getId()}:${hold.threadId}`
      const { mode, fields, clocks, ttl, strangers } = await look(redis, name)
      expect({ mode, fields, strangers }).to.deep.equal({
        mode: 'read',
        fields: { [field]: 1 },
        strangers: [],
      })
      expect(Object.keys(clocks)).to.deep.equal([`${field}#1`])
      expect(clocks[`${field}#1`]).to.be.within(4_000, 5_000)
      expect(ttl).to.be.within(4_000, 5_000)
      expect(await redis.get(`{${name}}:${field}:rwlock_timeout:1`)).to.equal('1')
      await hold.unlock()
      await expectNothingLeft(redis, name)
    })

    it('beside other readers: a field of its own, the hash lives as long as the longest', async () => {
      await read(1, 20_000)
      await read(2, 5_000)
      expect(await shape(redis, name)).to.deep.equal({
        mode: 'read',
        readers: [1, 1],
        writers: [],
        clocks: 2,
      })
      expect((await look(redis, name)).ttl).to.be.within(19_000, 20_000)
      await read(3, 40_000)
      expect((await look(redis, name)).ttl).to.be.within(39_000, 40_000)
    })

    it('again by the same caller: the count, and a clock a level', async () => {
      const field = `${redisson.getId()}:${(await rw.readLock().acquire({ threadId: 1, leaseTime: 20_000 })).threadId}`
      await read(1, 5_000)
      const { fields, clocks, ttl } = await look(redis, name)
      expect(fields).to.deep.equal({ [field]: 2 })
      expect(clocks[`${field}#1`]).to.be.within(19_000, 20_000)
      expect(clocks[`${field}#2`]).to.be.within(4_000, 5_000)
      expect(ttl).to.be.within(19_000, 20_000)
    })

    it('while another writes: refused, nothing changed', async () => {
      await write(1, 5_000)
      const before = await shape(redis, name)
      expect(await read(2)).to.equal(false)
      expect(await shape(redis, name)).to.deep.equal(before)
      expect((await look(redis, name)).ttl).to.be.within(4_000, 5_000)
    })

    it('by the writer: a field and a clock beside the write field, mode stays write', async () => {
      await write(1, 5_000)
      expect(await read(1, 20_000)).to.equal(true)
      expect(await shape(redis, name)).to.deep.equal({
        mode: 'write',
        readers: [1],
        writers: [1],
        clocks: 1,
      })
      expect((await look(redis, name)).ttl).to.be.within(19_000, 20_000)
    })

    it('by the writer under a thread id of its own, which Java peers take for another reader', async () => {
      const writing = await rw.writeLock().acquire({ threadId: 1 })
      const reading = await rw.readLock().acquire({ threadId: 1 })
      expect(reading.threadId).to.not.equal(writing.threadId)
      expect(Object.keys((await look(redis, name)).fields)).to.have.members([
        `${redisson.getId()}:${writing.threadId}:write`,
        `${redisson.getId()}:${reading.threadId}`,
      ])
    })
  })

  describe('write acquire', () => {
    it('of a free lock: mode, write field and lease, no clock', async () => {
      const hold = await rw.writeLock().acquire({ leaseTime: 5_000 })
      const { ttl, ...rest } = await look(redis, name)
      expect(rest).to.deep.equal({
        mode: 'write',
        fields: { [`${redisson.getId()}:${hold.threadId}:write`]: 1 },
        clocks: {},
        strangers: [],
      })
      expect(ttl).to.be.within(4_000, 5_000)
    })

    it('again by the same caller: the count, and the lease added to what is left', async () => {
      await write(1, 5_000)
      expect(await write(1, 20_000)).to.equal(true)
      expect((await shape(redis, name)).writers).to.deep.equal([2])
      expect((await look(redis, name)).ttl).to.be.within(23_500, 25_000)
    })

    it('while another writes or anybody reads: refused, nothing changed', async () => {
      await write(1, 5_000)
      expect(await write(2)).to.equal(false)
      await unwrite(1)
      await read(1, 5_000)
      const before = await shape(redis, name)
      expect(await write(2)).to.equal(false)
      expect(await write(1)).to.equal(false)
      expect(await shape(redis, name)).to.deep.equal(before)
      expect((await look(redis, name)).ttl).to.be.within(4_000, 5_000)
    })
  })

  describe('read release', () => {
    it('of the last hold: nothing is left, 0 is told', async () => {
      await read(1)
      await unread(1)
      await expectNothingLeft(redis, name)
      expect(await told()).to.deep.equal(['0'])
    })

    it('of a level: the topmost clock goes, the others run on, nothing is told', async () => {
      await read(1, 20_000)
      await read(1, 40_000)
      await unread(1)
      const { fields, clocks, ttl } = await look(redis, name)
      expect(Object.values(fields)).to.deep.equal([1])
      expect(Object.keys(clocks).map((key) => key.slice(-2))).to.deep.equal(['#1'])
      expect(Object.values(clocks)[0]).to.be.within(19_000, 20_000)
      expect(ttl).to.be.within(19_000, 20_000)
      expect(await told()).to.deep.equal([])
    })

    it('beside other readers: the field and its clocks go, nothing is told', async () => {
      await read(1)
      await read(1)
      await read(2)
      await unread(1)
      await unread(1)
      expect(await shape(redis, name)).to.deep.equal({
        mode: 'read',
        readers: [1],
        writers: [],
        clocks: 1,
      })
      expect(await told()).to.deep.equal([])
    })

    it('inside a write hold: still locked for writing, and the write lease is not shortened', async () => {
      await write(1, 20_000)
      await read(1, 5_000)
      await read(1, 5_000)
      await unread(1)
      expect((await look(redis, name)).ttl).to.be.within(19_000, 20_000)
      await unread(1)
      expect(await shape(redis, name)).to.deep.equal({
        mode: 'write',
        readers: [],
        writers: [1],
        clocks: 0,
      })
      expect((await look(redis, name)).ttl).to.be.within(19_000, 20_000)
      expect(await told()).to.deep.equal([])
    })

    it('of what the caller does not hold: IllegalMonitorStateError, nothing changed, nothing told (C6)', async () => {
      await read(1, 5_000)
      const before = await shape(redis, name)
      expect((await rejection(unread(2))).name).to.equal('IllegalMonitorStateError')
      expect((await rejection(unwrite(1))).name).to.equal('IllegalMonitorStateError')
      expect(await shape(redis, name)).to.deep.equal(before)
      expect(await told()).to.deep.equal([])
    })
  })

  describe('write release', () => {
    it('of the last hold: nothing is left, 1 is told', async () => {
      await write(1)
      await unwrite(1)
      await expectNothingLeft(redis, name)
      expect(await told()).to.deep.equal(['1'])
    })

    it('of a level: the lease of those left, nothing is told', async () => {
      await write(1, 20_000)
      await write(1, 5_000)
      await unwrite(1)
      expect((await shape(redis, name)).writers).to.deep.equal([1])
      expect((await look(redis, name)).ttl).to.be.within(19_000, 20_000)
      expect(await told()).to.deep.equal([])
    })

    it('of a level leaves the key what a read hold beside still needs', async () => {
      await write(1, 5_000)
      await read(1, 20_000)
      await write(1, 5_000)
      await unwrite(1)
      expect((await look(redis, name)).ttl).to.be.within(19_000, 20_000)
    })

    it('while its owner reads: steps down to mode read, and 1 is told (A11)', async () => {
      await write(1, 20_000)
      await read(1, 20_000)
      await read(1, 5_000)
      await unwrite(1)
      expect(await shape(redis, name)).to.deep.equal({
        mode: 'read',
        readers: [2],
        writers: [],
        clocks: 2,
      })
      expect((await look(redis, name)).ttl).to.be.within(19_000, 20_000)
      expect(await told()).to.deep.equal(['1'])
      await unread(1)
      await unread(1)
      await expectNothingLeft(redis, name)
      expect(await told()).to.deep.equal(['0'])
    })

    it('of what the caller does not hold: IllegalMonitorStateError, nothing changed, nothing told', async () => {
      await write(1, 5_000)
      expect((await rejection(unwrite(2))).name).to.equal('IllegalMonitorStateError')
      expect((await rejection(unread(1))).name).to.equal('IllegalMonitorStateError')
      expect((await shape(redis, name)).writers).to.deep.equal([1])
      expect(await told()).to.deep.equal([])
    })
  })

  describe('isLocked', () => {
    const locked = async () => [await rw.readLock().isLocked(), await rw.writeLock().isLocked()]

    it('of both sides, in every state (atlas C10: also while the writer reads)', async () => {
      expect(await locked()).to.deep.equal([false, false])
      await read(1)
      expect(await locked()).to.deep.equal([true, false])
      await unread(1)
      await write(1)
      expect(await locked()).to.deep.equal([false, true])
      await read(1)
      expect(await locked()).to.deep.equal([true, true])
      await unread(1)
      expect(await locked()).to.deep.equal([false, true])
      await read(1)
      await unwrite(1)
      expect(await locked()).to.deep.equal([true, false])
    })
  })
})
