// What docs/guides/testing.md shows, and the rest.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { Redisson, RedisUnavailableError, WrongTypeError } from 'rlock'
import { eventsOf } from '../../../test/kit/observing'
import { rejection } from '../../../test/kit/rejection'
import { latch } from '../../../test/kit/tapped-transport'
import { type InMemoryRedis, inMemoryRedis } from '../src/index'

const A_LEASE = 30_000
const ROOT = join(__dirname, '../../..')

describe('The in-memory Redis', () => {
  let redis: InMemoryRedis
  let clients: Redisson[]

  beforeEach(() => {
    redis = inMemoryRedis()
    clients = []
  })
  afterEach(async () => {
    redis.resume()
    await Promise.all(clients.map((client) => client.shutdown({ timeout: 0 })))
  })

  async function open(server = redis): Promise<Redisson> {
    const client = await Redisson.create({ redis: server })
    clients.push(client)
    return client
  }

  it('A lock in memory excludes other clients, and its release wakes their waiters', async () => {
    const [one, other] = [await open(), await open()]
    const hold = await one.getLock('order').acquire()
    expect(await other.getLock('order').tryLock()).to.equal(false)
    const waiting = other.getLock('order').acquire()
    await redis.advance(5_000)
    await hold.unlock()
    await (await waiting).unlock()
    expect(redis.keys()).to.deep.equal([])
  })

  it('advance() renews the holds of the watchdog in their time', async () => {
    const client = await open()
    const lost = eventsOf(client, 'lockLost')
    const hold = await client.getLock('order').acquire()
    await redis.advance(10 * A_LEASE)
    expect(hold.isHeld).to.equal(true)
    expect(redis.call('PTTL', 'order')).to.be.within(A_LEASE / 2, A_LEASE)
    expect(lost).to.deep.equal([])
    await hold.unlock()
  })

  it('advance() ends a lease, and the waiter behind it acquires', async () => {
    const [one, other] = [await open(), await open()]
    const hold = await one.getLock('order').acquire({ leaseTime: 60_000 })
    const waiting = other.getLock('order').acquire()
    await redis.advance(55_000)
    expect(hold.isHeld).to.equal(true)
    await redis.advance(6_000)
    expect(hold.isHeld).to.equal(false)
    expect(hold.signal.aborted).to.equal(true)
    await (await waiting).unlock()
  })

  it('advance() ends a wait', async () => {
    const [one, other] = [await open(), await open()]
    await one.getLock('order').lock()
    const waiting = other.getLock('order').tryLock(60_000)
    await redis.advance(60_000)
    expect(await waiting).to.equal(false)
  })

  it('inMemoryRedis() refuses options that it does not know (V38)', () => {
    for (const wrong of [{ nope: 1 }, { Now: () => 0 }, [], null])
      expect(() => inMemoryRedis(wrong as never), JSON.stringify(wrong)).to.throw(TypeError)
  })

  it('advance() refuses values that are no time', async () => {
    expect(await rejection(redis.advance(-1))).to.be.instanceOf(RangeError)
    expect(await rejection(redis.advance('1' as unknown as number))).to.be.instanceOf(TypeError)
  })

  it('The clock of a test is that of leases and waits', async () => {
    let now = 1_000
    const server = inMemoryRedis({ now: () => now })
    const client = await open(server)
    const hold = await client.getLock('order').acquire({ leaseTime: 500 })
    expect(server.call('PTTL', 'order')).to.equal(500)
    const ended = new Promise((resolve) => hold.signal.addEventListener('abort', resolve))
    now += 501
    expect(server.keys()).to.deep.equal([])
    await ended
    expect(hold.isHeld).to.equal(false)
  })

  it('A lost reply of an acquisition acquires once', async () => {
    const client = await open()
    await client.getLock('order').withLock(() => {})
    redis.loseNextReply()
    const hold = await client.getLock('order').acquire()
    expect(Object.values(redis.call('HGETALL', 'order') as string[])[1]).to.equal('1')
    await hold.unlock()
    expect(redis.keys()).to.deep.equal([])
  })

  it('A waiter whose connection is cut is subscribed again and woken', async () => {
    const [one, other] = [await open(), await open()]
    const hold = await one.getLock('order').acquire()
    const waiting = other.getLock('order').acquire()
    await redis.advance(0)
    redis.cut()
    await redis.advance(0)
    expect(redis.call('PUBSUB', 'NUMSUB', 'redisson_lock__channel:{order}')).to.deep.equal([
      'redisson_lock__channel:{order}',
      1,
    ])
    await hold.unlock()
    await (await waiting).unlock()
  })

  it('A server that is paused answers after resume()', async () => {
    const client = await open()
    redis.pause()
    const acquiring = client.getLock('order').acquire()
    await redis.advance(1_000)
    expect(redis.keys()).to.deep.equal([])
    redis.resume()
    await (await acquiring).unlock()
  })

  it('A call to a server that stays paused is rejected', async () => {
    const client = await open()
    redis.pause()
    const refused = rejection(client.getLock('order').lock())
    await redis.advance(11_000)
    expect(await refused).to.be.instanceOf(RedisUnavailableError)
    const connecting = rejection(Redisson.create({ redis }))
    await redis.advance(11_000)
    expect(await connecting).to.be.instanceOf(RedisUnavailableError)
    redis.resume()
    await redis.advance(1_000)
    expect(await client.getLock('order').tryLock()).to.equal(true)
  })

  it('flush() loses the lock, and its holder is notified', async () => {
    const client = await open()
    const lost = latch()
    client.on('lockLost', () => lost.open())
    await client.getLock('order').acquire()
    redis.flush()
    await redis.advance(A_LEASE)
    await lost.opened
  })

  it("Names of any characters are the keys' names; another type is a WrongTypeError", async () => {
    const client = await open()
    const name = 'Ω\0😀 {x}'
    await client.getLock(name).lock()
    expect(redis.keys()).to.deep.equal([name])
    redis.call('SET', 'text', 'x')
    expect(await rejection(client.getLock('text').lock())).to.be.instanceOf(WrongTypeError)
  })

  it('Servers have nothing in common', async () => {
    const [one, other] = [await open(), await open(inMemoryRedis())]
    await one.getLock('order').lock()
    expect(await other.getLock('order').tryLock()).to.equal(true)
  })

  it('A client without shutdown keeps no process alive, but a waiting caller does', async () => {
    const program = `
      const { Redisson } = require('./src/index')
      const { inMemoryRedis } = require('./packages/testing/src/index')
      Redisson.create({ redis: inMemoryRedis() }).then(async (client) => {
        await client.getLock('held').lock()
        const entered = await client.getLock('held').tryLock(3_000)
        console.log('waited', entered)
      })`
    const { stdout } = await promisify(execFile)(process.execPath, ['--import', 'tsx', '-e', program], {
      cwd: ROOT,
      timeout: 30_000,
    })
    expect(stdout).to.equal('waited false\n')
  })

  it('A client that is shut down lets the process end at once', async () => {
    const program = `
      const { Redisson } = require('./src/index')
      const { inMemoryRedis } = require('./packages/testing/src/index')
      const lua = () => Object.keys(require.cache).some((file) => file.includes('wasmoon'))
      const before = lua()
      Redisson.create({ redis: inMemoryRedis() }).then(async (client) => {
        const waited = await client.getLock('x').withLock(() => new Promise((done) => setTimeout(done, 300, 'waited').unref()))
        await client.shutdown()
        console.log(waited, before)
      })`
    const { stdout } = await promisify(execFile)(process.execPath, ['--import', 'tsx', '-e', program], {
      cwd: ROOT,
    })
    expect(stdout).to.equal('waited false\n')
  })
})
