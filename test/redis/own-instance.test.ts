import { expect } from 'chai'
import { Redis, type RedisOptions } from 'ioredis'
import { Redis as Redis5 } from 'ioredis5'
import { Redisson } from '../../src/redisson'
import { closeAll, createRedisson, openRedis, rejection, uniqueName } from '../kit/clients'
import { connected, provesLocking, through } from '../kit/proves-locking'
import { openProxy } from '../kit/proxies'
import { ownServer, waitUntil } from '../kit/servers/index'

/** Counts the commands that somebody sends on the instance. */
function countingCommands(instance: Redis): () => number {
  const sendCommand = instance.sendCommand.bind(instance)
  let sent = 0
  instance.sendCommand = (...args) => {
    sent++
    return sendCommand(...args)
  }
  return () => sent
}

function listenersOf(instance: Redis) {
  return Object.fromEntries(instance.eventNames().map((name) => [name, instance.listenerCount(name)]))
}

describe("A caller's own ioredis instance", () => {
  const server = ownServer({ requirepass: 'secret' })
  const opened: { disconnect(): void }[] = []

  afterEach(async () => {
    await closeAll()
    for (const instance of opened.splice(0)) instance.disconnect()
  })

  function own(options: Partial<RedisOptions> = {}): Redis {
    const { host, port } = server
    const instance = new Redis({ host, port, password: 'secret', ...options, replyMapping: 'legacy' })
    opened.push(instance)
    return instance
  }

  const options: [string, Partial<RedisOptions>][] = [
    ['enableAutoPipelining', { enableAutoPipelining: true }],
    ['commandTimeout', { commandTimeout: 50 }],
    ['lazyConnect', { lazyConnect: true }],
    ['readOnly', { readOnly: true }],
    ['maxRetriesPerRequest', { maxRetriesPerRequest: 0 }],
    ['enableOfflineQueue', { enableOfflineQueue: false }],
    ['retryStrategy', { retryStrategy: () => null }],
    ['protocol 2', { protocol: 2 }],
    ['stringNumbers', { stringNumbers: true }],
    ['db', { db: 4 }],
  ]
  for (const [what, given] of options)
    it(`An ioredis instance of the caller with ${what} serves as the address, and locks work`, async () => {
      const holder = await createRedisson({ redis: own(given) })
      const url = `${server.url}/${given.db ?? 0}`
      const other = await createRedisson({ redis: url })
      await provesLocking(holder, other, through(await openRedis(url)))
      await provesLocking(other, holder, through(await openRedis(url)))
    })

  it('An ioredis instance of the caller with a keyPrefix is refused, pointing to nameMapper', async () => {
    const error = await rejection(Redisson.create({ redis: own({ keyPrefix: 'app:' }) }))
    expect(error).to.be.instanceOf(TypeError)
    expect(error.message).to.contain('nameMapper').and.not.contain('secret')
  })

  it('An ioredis instance of the caller whose database was changed by SELECT means that database', async () => {
    const instance = own({ db: 1 })
    await instance.select(7)
    const url = `${server.url}/7`
    await provesLocking(
      await createRedisson({ redis: instance }),
      await createRedisson({ redis: url }),
      through(await openRedis(url)),
    )
  })

  it('A reconnecting ioredis instance that selected a database means that one (V5)', async () => {
    const proxy = await openProxy(server)
    for (const instance of [
      own({ port: proxy.port }),
      new Redis5(`redis://:secret@127.0.0.1:${proxy.port}`),
    ]) {
      opened.push(instance)
      await instance.select(7)
      proxy.stallReplies()
      proxy.cut()
      // Its new connection has not finished the handshake, so ioredis has not selected the database again.
      await waitUntil('it is reconnecting', () => instance.status === 'connect')
      const creating = createRedisson({ redis: instance })
      proxy.resume()
      const lock = (await creating).getLock(uniqueName())
      const there = await openRedis(`${server.url}/7`)
      await lock.withLock(async () => expect(await there.exists(lock.getName())).to.equal(1))
    }
  })

  it('An ioredis instance of the caller is left open, without our listeners or commands', async () => {
    const instance = own({ commandTimeout: 5_000, db: 2 })
    const id = await instance.client('ID')
    const admin = await openRedis(server.url)
    const others = await connected(admin)
    const listeners = listenersOf(instance)
    const options = { ...instance.options }
    const sent = countingCommands(instance)

    const redisson = await Redisson.create({ redis: instance })
    const held = await redisson.getLock('mine').acquire()
    await held.unlock()
    expect(await connected(admin)).to.have.length(others.length + 2)
    await redisson.shutdown()

    await waitUntil('our connections are gone', async () => {
      expect(await connected(admin)).to.deep.equal(others)
      return true
    })
    expect(sent()).to.equal(0)
    expect(listenersOf(instance)).to.deep.equal(listeners)
    expect(instance.options).to.deep.equal(options)
    expect(instance.status).to.equal('ready')
    expect(await instance.client('ID'), 'the same connection').to.equal(id)
  })

  it('An ioredis instance of the caller that was never connected stays so', async () => {
    const instance = own({ lazyConnect: true })
    const redisson = await createRedisson({ redis: instance })
    expect(await redisson.getLock('lazy').tryLock()).to.equal(true)
    await redisson.getLock('lazy').forceUnlock()
    await redisson.shutdown()
    expect(instance.status).to.equal('wait')
  })

  it('An ioredis instance of the caller with another version of ioredis serves as well', async () => {
    const instance = new Redis5(`${server.url}/6`, { maxRetriesPerRequest: 1, commandTimeout: 50 })
    opened.push(instance)
    await instance.ping()
    const holder = await createRedisson({ redis: instance })
    await provesLocking(
      holder,
      await createRedisson({ redis: `${server.url}/6` }),
      through(await openRedis(`${server.url}/6`)),
    )
    await holder.shutdown()
    expect(instance.status).to.equal('ready')
  })

  it('An ioredis instance of another version serves in the database that it selected', async () => {
    const instance = new Redis5(server.url)
    opened.push(instance)
    await instance.select(5)
    const redisson = await createRedisson({ redis: instance })
    const there = await openRedis(`${server.url}/5`)
    const lock = redisson.getLock(uniqueName())
    await lock.withLock(async () => expect(await there.exists(lock.getName())).to.equal(1))
    await there.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
    await lock.withLock(async () => expect(await there.exists(lock.getName())).to.equal(1))
  })
})
