import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect } from 'chai'
import type { AvailableEvent, EventOrigin, UnavailableEvent } from '../../src/index'
import { Redisson } from '../../src/redisson'
import { createRedisson, openRedis, rejection, uniqueName } from '../kit/clients'
import { eventsOf } from '../kit/observing'
import { openBlackHole } from '../kit/proves-locking'
import { openProxy } from '../kit/proxies'
import { freshServer, sharedCluster, sharedStandalone, waitUntil } from '../kit/servers/index'
import { TlsProxy } from '../kit/tls-proxy'

describe('The health of a client', () => {
  it('ping() and isConnected tell whether Redis answers', async () => {
    const proxy = await openProxy(await sharedStandalone())
    const redisson = await createRedisson({ redis: proxy.url })
    expect(redisson.isConnected).to.equal(true)
    expect(await redisson.ping()).to.equal(undefined)
    proxy.stall()
    const silent = await rejection(redisson.ping({ timeout: 200 }))
    expect(silent).to.include({ code: 'REDIS_UNAVAILABLE' })
    expect(silent.message).to.contain(`127.0.0.1:${proxy.port}`).and.contain('200 ms')
    proxy.resume()
    await redisson.ping()
    proxy.breakOff()
    await waitUntil('the connection is gone', () => !redisson.isConnected)
    expect(await rejection(redisson.ping())).to.include({ code: 'REDIS_UNAVAILABLE' })
    await proxy.accept()
    await waitUntil('it is back', () => redisson.isConnected)
    await redisson.ping()
    expect(await rejection(redisson.ping({ timeout: -1 }))).to.be.instanceOf(RangeError)
    await redisson.shutdown()
    expect(redisson.isConnected).to.equal(false)
    expect(await rejection(redisson.ping())).to.include({ code: 'REDISSON_SHUTDOWN' })
  })

  it('ping() reaches every primary of a cluster', async () => {
    const { nodes } = await sharedCluster()
    const redisson = await createRedisson({
      redis: { nodes: nodes.map(({ host, port }) => ({ host, port })) },
    })
    const admins = await Promise.all(nodes.map(({ url }) => openRedis(url)))
    const pings = () =>
      Promise.all(
        admins.map(async (admin) =>
          Number(/cmdstat_ping:calls=(\d+)/.exec(await admin.info('commandstats'))?.[1] ?? 0),
        ),
      )
    const before = await pings()
    await redisson.ping()
    const after = await pings()
    expect(after.every((count, at) => count > before[at]!)).to.equal(true)
  })

  it('An outage has one unavailable event and one available event, with address and client', async () => {
    const proxy = await openProxy(await sharedStandalone())
    const redisson = await createRedisson({ redis: proxy.url })
    const unavailable: UnavailableEvent[] = []
    const available: AvailableEvent[] = []
    const errors: (Error & EventOrigin)[] = []
    redisson.on('unavailable', (event) => unavailable.push(event))
    redisson.on('available', (event) => available.push(event))
    redisson.on('error', (error) => errors.push(error))
    proxy.breakOff()
    await waitUntil('it is reported', () => unavailable.length > 0)
    const acquiring = redisson.getLock(uniqueName()).acquire()
    await proxy.accept()
    await (await acquiring).unlock()
    await waitUntil('it is over', () => available.length > 0)
    const origin = { clientId: redisson.getId(), address: `127.0.0.1:${proxy.port}/0` }
    expect([unavailable.length, available.length, errors.length]).to.deep.equal([1, 1, 1])
    for (const event of [...unavailable, ...available, ...errors]) expect(event).to.include(origin)
    expect(available[0]!.lasted).to.be.within(0, 15_000)
    expect(errors[0]).to.include({ code: 'REDIS_UNAVAILABLE' })
    expect(errors[0]!.message).to.match(
      /^Redis at 127\.0\.0\.1:\d+\/0 is unavailable \(client [0-9a-f-]+\): /,
    )
  })

  it('A server that falls silent is reported with its address, and not as one that loads', async () => {
    const proxy = await openProxy(await sharedStandalone())
    const redisson = await createRedisson({ redis: proxy.url })
    const told = new Promise<Error>((resolve) => redisson.once('error', resolve))
    proxy.stall()
    const lock = redisson.getLock(uniqueName())
    const error = await rejection(lock.tryLock({ waitTime: 6_000 }))
    const reported = await told
    proxy.resume()
    for (const { message } of [error, reported]) {
      expect(message).to.contain(`127.0.0.1:${proxy.port}`).and.contain(redisson.getId())
      expect(message).not.to.match(/LOADING|\.\./)
    }
  })

  it('waiters() lists the callers that wait', async () => {
    const redisson = await createRedisson()
    const [name, other] = [uniqueName(), uniqueName()]
    const hold = await redisson.getLock(name).acquire()
    const waiting = [
      redisson.getLock(name).acquire(),
      redisson.getLock(name).tryAcquire({ waitTime: 60_000 }),
    ]
    const latch = redisson.getCountDownLatch(other)
    await latch.trySetCount(1)
    const counting = latch.await()
    await waitUntil('they wait', () => redisson.waiters().length === 3)
    const [first, second, third] = redisson.waiters()
    expect(first).to.include({ subject: `the lock "${name}"`, key: name, remaining: undefined })
    expect(second!.subject).to.equal(first!.subject)
    expect(second!.remaining).to.be.within(30_000, 60_000)
    expect(third).to.include({ subject: `the latch "${other}"`, key: other })
    await waitUntil('time has passed', () => redisson.waiters().every(({ waitingFor }) => waitingFor > 0))
    await hold.unlock()
    for (const acquired of waiting) await (await acquired)!.unlock()
    await latch.countDown()
    await counting
    expect(redisson.waiters()).to.deep.equal([])
  })

  it('A user without the right to a channel is told which right to grant', async () => {
    const server = await freshServer({ config: ['user deaf on >secret ~* resetchannels &none +@all'] })
    const redisson = await createRedisson({ redis: `redis://deaf:secret@${server.host}:${server.port}` })
    const errors = eventsOf(redisson, 'error')
    const name = uniqueName()
    const admin = await openRedis(server.url)
    await admin.hset(name, 'another:1', 1)
    await admin.pexpire(name, 60_000)
    expect(await redisson.getLock(name).tryLock(500)).to.equal(false)
    expect(errors[0]).to.include({ code: 'REDIS_REFUSED' })
    expect(errors[0]!.message)
      .to.contain(`SUBSCRIBE to the channel "redisson_lock__channel:{${name}}"`)
      .and.contain('Grant the user +subscribe &redisson_lock__channel:*')
  })
})

describe('A wrong port or a wrong kind of connection is explained', () => {
  const create = async (options: object) =>
    (await rejection(Redisson.create({ redis: { host: '127.0.0.1', connectTimeout: 700, ...options } })))
      .message

  it('A plain connection to a TLS port, and the reverse', async () => {
    const server = await freshServer()
    const proxy = await TlsProxy.open(server)
    expect(await create({ port: proxy.port })).to.contain('give rediss:// or tls')
    expect(await create({ port: server.port, tls: {} })).to.contain(
      'does the server expect TLS on this port?',
    )
  })

  it('A server that says nothing is not taken for one with TLS', async () => {
    const hole = await openBlackHole()
    expect(await create({ port: hole.port })).to.match(/no answer within 700 ms$/)
  })

  it('A web server', async () => {
    const web = createServer((_request, response) => response.end('hello')).listen(0, '127.0.0.1')
    try {
      await waitUntil('it listens', () => web.listening)
      const message = await create({ port: (web.address() as AddressInfo).port })
      expect(message).to.contain('not that of a Redis server').and.not.contain('Please report')
    } finally {
      web.close()
    }
  })
})
