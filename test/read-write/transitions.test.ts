import { expect } from 'chai'
import { rejection } from '../kit/clients'
import { name, redis, redisson } from '../kit/each-test'
import {
  expectShape,
  read,
  readWriteLock,
  reported,
  rw,
  unread,
  unwrite,
  write,
} from '../kit/read-write/sides'
import { expectNothingLeft, look, shape } from '../kit/read-write/state'

/** The tables of the protocol, row by row: what each operation leaves in Redis and tells. */
describe('Transitions of a read-write lock', () => {
  readWriteLock()

  describe('A read acquisition', () => {
    it('A read acquisition of a free lock: mode, field, read timeout key and lease', async () => {
      const hold = await rw.readLock().acquire({ leaseTime: 5_000 })
      const field = `${redisson.getId()}:${hold.threadId}`
      const { mode, fields, readTimeouts, ttl, strangers } = await look(redis, name)
      expect({ mode, fields, strangers }).to.deep.equal({
        mode: 'read',
        fields: { [field]: 1 },
        strangers: [],
      })
      expect(Object.keys(readTimeouts)).to.deep.equal([`${field}#1`])
      expect(readTimeouts[`${field}#1`]).to.be.within(4_000, 5_000)
      expect(ttl).to.be.within(4_000, 5_000)
      expect(await redis.get(`{${name}}:${field}:rwlock_timeout:1`)).to.equal('1')
      await hold.unlock()
      await expectNothingLeft(redis, name)
    })

    it('A read acquisition beside others: a field of its own, the key lives the longest', async () => {
      await read(1, 20_000)
      await read(2, 5_000)
      await expectShape('read', [1, 1], [], 2)
      expect((await look(redis, name)).ttl).to.be.within(19_000, 20_000)
      await read(3, 40_000)
      expect((await look(redis, name)).ttl).to.be.within(39_000, 40_000)
    })

    it('A read acquisition again: the count, and a read timeout key for each level', async () => {
      const field = `${redisson.getId()}:${(await rw.readLock().acquire({ threadId: 1, leaseTime: 20_000 })).threadId}`
      await read(1, 5_000)
      const { fields, readTimeouts, ttl } = await look(redis, name)
      expect(fields).to.deep.equal({ [field]: 2 })
      expect(readTimeouts[`${field}#1`]).to.be.within(19_000, 20_000)
      expect(readTimeouts[`${field}#2`]).to.be.within(4_000, 5_000)
      expect(ttl).to.be.within(19_000, 20_000)
    })

    it('A read acquisition while another writes: refused, nothing changed', async () => {
      await write(1, 5_000)
      const before = await shape(redis, name)
      expect(await read(2)).to.equal(false)
      expect(await shape(redis, name)).to.deep.equal(before)
      expect((await look(redis, name)).ttl).to.be.within(4_000, 5_000)
    })

    it('A read acquisition by the writer: a field beside the write field, mode stays write', async () => {
      await write(1, 5_000)
      expect(await read(1, 20_000)).to.equal(true)
      await expectShape('write', [1], [1], 1)
      expect((await look(redis, name)).ttl).to.be.within(19_000, 20_000)
    })

    it('A read acquisition by the writer has a thread id of its own, a reader to Java', async () => {
      const writing = await rw.writeLock().acquire({ threadId: 1 })
      const reading = await rw.readLock().acquire({ threadId: 1 })
      expect(reading.threadId).to.not.equal(writing.threadId)
      expect(Object.keys((await look(redis, name)).fields)).to.have.members([
        `${redisson.getId()}:${writing.threadId}:write`,
        `${redisson.getId()}:${reading.threadId}`,
      ])
    })
  })

  describe('A write acquisition', () => {
    it('A write acquisition of a free lock: mode, write field and lease, no read timeout key', async () => {
      const hold = await rw.writeLock().acquire({ leaseTime: 5_000 })
      const { ttl, ...rest } = await look(redis, name)
      expect(rest).to.deep.equal({
        mode: 'write',
        fields: { [`${redisson.getId()}:${hold.threadId}:write`]: 1 },
        readTimeouts: {},
        strangers: [],
      })
      expect(ttl).to.be.within(4_000, 5_000)
    })

    it('A write acquisition again: the count, and the lease added to what is left', async () => {
      await write(1, 5_000)
      expect(await write(1, 20_000)).to.equal(true)
      expect((await shape(redis, name)).writers).to.deep.equal([2])
      expect((await look(redis, name)).ttl).to.be.within(23_500, 25_000)
    })

    it('A write acquisition while another owner writes or reads: refused, nothing changed', async () => {
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

  describe('A read release', () => {
    it('A read release of the last hold: nothing is left, 0 is published', async () => {
      await read(1)
      await unread(1)
      await expectNothingLeft(redis, name)
      expect(await reported()).to.deep.equal(['0'])
    })

    it('A read release of a level: the top timeout key goes, nothing is published', async () => {
      await read(1, 20_000)
      await read(1, 40_000)
      await unread(1)
      const { fields, readTimeouts, ttl } = await look(redis, name)
      expect(Object.values(fields)).to.deep.equal([1])
      expect(Object.keys(readTimeouts).map((key) => key.slice(-2))).to.deep.equal(['#1'])
      expect(Object.values(readTimeouts)[0]).to.be.within(19_000, 20_000)
      expect(ttl).to.be.within(19_000, 20_000)
      expect(await reported()).to.deep.equal([])
    })

    it('A read release beside others: the field and its keys go, nothing is published', async () => {
      await read(1)
      await read(1)
      await read(2)
      await unread(1)
      await unread(1)
      await expectShape('read', [1], [], 1)
      expect(await reported()).to.deep.equal([])
    })

    it('A read release inside a write hold: still locked, the write lease not shortened', async () => {
      await write(1, 20_000)
      await read(1, 5_000)
      await read(1, 5_000)
      await unread(1)
      expect((await look(redis, name)).ttl).to.be.within(19_000, 20_000)
      await unread(1)
      await expectShape('write', [], [1], 0)
      expect((await look(redis, name)).ttl).to.be.within(19_000, 20_000)
      expect(await reported()).to.deep.equal([])
    })

    it('A read release of what is not held: IllegalMonitorStateError, nothing changed (C6)', async () => {
      await read(1, 5_000)
      const before = await shape(redis, name)
      expect((await rejection(unread(2))).name).to.equal('IllegalMonitorStateError')
      expect((await rejection(unwrite(1))).name).to.equal('IllegalMonitorStateError')
      expect(await shape(redis, name)).to.deep.equal(before)
      expect(await reported()).to.deep.equal([])
    })
  })

  describe('A write release', () => {
    it('A write release of the last hold: nothing is left, 1 is published', async () => {
      await write(1)
      await unwrite(1)
      await expectNothingLeft(redis, name)
      expect(await reported()).to.deep.equal(['1'])
    })

    it('A write release of a level: the lease of the remaining levels, nothing is published', async () => {
      await write(1, 20_000)
      await write(1, 5_000)
      await unwrite(1)
      expect((await shape(redis, name)).writers).to.deep.equal([1])
      expect((await look(redis, name)).ttl).to.be.within(19_000, 20_000)
      expect(await reported()).to.deep.equal([])
    })

    it('A write release of a level leaves the key the lease that a companion read hold needs', async () => {
      await write(1, 5_000)
      await read(1, 20_000)
      await write(1, 5_000)
      await unwrite(1)
      expect((await look(redis, name)).ttl).to.be.within(19_000, 20_000)
    })

    it('A write release while its owner reads: steps down to mode read, and 1 is published (A11)', async () => {
      await write(1, 20_000)
      await read(1, 20_000)
      await read(1, 5_000)
      await unwrite(1)
      await expectShape('read', [2], [], 2)
      expect((await look(redis, name)).ttl).to.be.within(19_000, 20_000)
      expect(await reported()).to.deep.equal(['1'])
      await unread(1)
      await unread(1)
      await expectNothingLeft(redis, name)
      expect(await reported()).to.deep.equal(['0'])
    })
  })

  describe('isLocked()', () => {
    const locked = async () => [await rw.readLock().isLocked(), await rw.writeLock().isLocked()]

    it('isLocked() answers for both sides in every state, also while the writer reads (C10)', async () => {
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
