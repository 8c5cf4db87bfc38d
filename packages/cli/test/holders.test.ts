import { expect } from 'chai'
import { readTimeoutParts } from 'rlock/internal'
import { createRedisson } from '../../../test/kit/clients'
import { name, redis, redisAndName } from '../../../test/kit/each-test'
import { ownServer } from '../../../test/kit/servers/index'
import { mends } from '../src/doctor/check'
import { rlock } from './cli'

const JAVA = '0b6d2a3e-1111-4222-8333-944444444444'
const owner = (at: number) => `${JAVA}:${at}`

describe('The command rlock and many holders', function () {
  this.timeout(60_000)
  const server = ownServer()

  redisAndName('test', { server })
  beforeEach(async () => {
    await redis.flushall()
  })

  const run = (...args: string[]) => rlock([...args, '--redis', server.url, '--json'])

  /** A read lock of so many readers, with the timeout of the first level of each. */
  async function read(name: string, readers: number): Promise<void> {
    const [before, behind] = readTimeoutParts(name)
    for (let from = 0; from < readers; from += 1_000) {
      const batch = redis.pipeline().hset(name, 'mode', 'read')
      for (let at = from; at < Math.min(readers, from + 1_000); at++)
        batch.hset(name, owner(at), 1).set(`${before}${owner(at)}${behind}1`, 1, 'PX', 3_600_000)
      await batch.pexpire(name, 3_600_000).exec()
    }
  }

  it('rlock lists 800 readers, frees the one that --owner names, and then all of them', async () => {
    await read(name, 800)
    for (const [listed] of [(await run('ls', name)).json, [(await run('show', name)).json[0].object]]) {
      expect([listed.kind, listed.mode, listed.moreHolders]).to.deep.equal(['read-write', 'read', 0])
      expect(listed.holders).to.have.lengthOf(800)
    }
    const { json } = await run('unlock', name, '--yes', '--owner', owner(799))
    expect(json[0]).to.deep.equal({ name, result: 'others hold it still', owners: [owner(799)] })
    expect(await redis.hlen(name)).to.equal(800)
    expect((await run('unlock', name, '--yes')).json[0].result).to.equal('freed')
    expect(await redis.dbsize()).to.equal(0)
  })

  it('rlock says aloud how many holders it does not list, and still frees one of those', async () => {
    await read(name, 10_700)
    const [{ holders, moreHolders }] = (await run('ls', name)).json
    expect(moreHolders).to.be.within(1, 700)
    expect(holders.length + moreHolders).to.equal(10_700)
    const { out } = await rlock(['ls', name, '--redis', server.url])
    expect(out).to.match(/and \d+ more holders/)
    const [{ keys, explanation }] = (await run('show', name)).json
    const [{ more, content }] = keys
    expect(more + Object.keys(content).length).to.equal(10_701)
    expect(explanation.join()).to.match(/10650 more holders/)
    const listed = new Set(holders.map((each: { owner: string }) => each.owner))
    const hidden = owner([...Array(10_700).keys()].find((at) => !listed.has(owner(at)))!)
    const freed = await run('unlock', name, '--yes', '--owner', hidden)
    expect(freed.json[0].result, freed.err).to.equal('others hold it still')
    expect(await redis.hexists(name, hidden)).to.equal(0)
    expect(await redis.hlen(name)).to.equal(10_700)
    expect((await run('unlock', name, '--yes')).json[0].result).to.equal('others hold it still')
    expect((await run('unlock', name, '--yes')).json[0].result).to.equal('freed')
  })

  it('rlock does not take other data with the field mode for a lock, however long it is', async () => {
    const fields = Array.from({ length: 2_000 }, (_, at) => [owner(at), 1]).flat()
    await redis.hset('profile', 'mode', 'read', 'name', 'a', ...fields)
    expect((await run('ls')).json).to.deep.equal([])
    expect((await run('unlock', 'profile', '--yes')).json[0].result).to.equal('not held')
  })

  it('rlock doctor --fix leaves the timeout of a living reader, whatever its lock is called', async () => {
    const client = await createRedisson({ redis: server.url })
    for (const name of [
      '{user:1}',
      '{a}x{b}',
      'user:2',
      '{user:2}',
      'x{y',
      `z:${owner(1)}:rwlock_timeout:1`,
      'redisson_lock_token:{user:3}',
    ]) {
      const hold = await client.getReadWriteLock(name).readLock().acquire()
      const { json } = await run('doctor', '--fix')
      expect(
        json.filter(({ id }) => /^(orphaned-timeout|token-expires)$/.test(id)),
        name,
      ).to.deep.equal([])
      expect(await client.getReadWriteLock(name).writeLock().tryLock(), name).to.equal(false)
      await hold.unlock()
    }
  })

  it('rlock doctor --fix leaves the timeout of a reader in Java whose lock has an empty name', async () => {
    const key = `{}:${owner(1)}:rwlock_timeout:1`
    await redis.multi().hset('', 'mode', 'read', owner(1), 1).set(key, 1, 'PX', 60_000).exec()
    await run('doctor', '--fix')
    expect(await redis.exists(key)).to.equal(1)
  })

  it('rlock doctor --fix empties a queue of 10,000 dead places and lets others in meanwhile', async () => {
    const queue = 'redisson_lock_queue:{f}'
    await redis.rpush(queue, ...Array.from({ length: 10_000 }, (_, at) => owner(at)))
    await redis.slowlog('RESET')
    await run('doctor', '--fix')
    expect(await redis.exists(queue)).to.equal(0)
    const slow = (await redis.slowlog('GET', 128)) as [number, number, number][]
    expect(Math.max(0, ...slow.map(([, , micros]) => micros))).to.be.below(200_000)
  })

  it('What doctor --fix removes was looked at again by the same script', async () => {
    const key = `{user:1}:${owner(1)}:rwlock_timeout:1`
    const remove = () => mends.deleteTimeout(redis, key, ['user:1', '{user:1}'], owner(1))
    for (const lock of ['user:1', '{user:1}']) {
      await redis.multi().hset(lock, 'mode', 'read', owner(1), 1).set(key, 1).exec()
      expect(await remove()).to.equal(false)
      await redis.del(lock)
    }
    expect(await remove()).to.equal(true)
    await redis.set(key, 'data of somebody')
    expect(await remove()).to.equal(false)

    const [queue, deadlines] = ['redisson_lock_queue:{f}', 'redisson_lock_timeout:{f}']
    await redis.multi().rpush(queue, owner(1), owner(2)).zadd(deadlines, '5', owner(1), '6', owner(3)).exec()
    const align = (...owners: string[]) => mends.alignPlaces(redis, queue, deadlines, owners)
    // Both were complete by then: a waiter had just come.
    expect(await align(owner(1))).to.equal(false)
    expect(await align(owner(2), owner(3))).to.equal(true)
    expect([await redis.lrange(queue, 0, -1), await redis.zrange(deadlines, '0', '-1')]).to.deep.equal([
      [owner(1)],
      [owner(1)],
    ])
    expect(await mends.removePlace(redis, queue, deadlines, owner(1), '4')).to.equal(false)
    expect(await mends.removePlace(redis, queue, deadlines, owner(2), '5')).to.equal(false)
    expect(await mends.removePlace(redis, queue, deadlines, owner(1), '5')).to.equal(true)
    await redis.set('redisson_lock_token:{t}', 'a-token', 'PX', 60_000)
    expect(await mends.keepCounter(redis, 'redisson_lock_token:{t}')).to.equal(false)
  })
})
