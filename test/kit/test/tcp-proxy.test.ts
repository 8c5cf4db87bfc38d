import { expect } from 'chai'
import type { Redis } from 'ioredis'
import { openProxy } from '../proxies'
import { ownServer, type TcpProxy, waitUntil } from '../servers/index'
import { connectTo, rejects, staysSilent } from '../servers/test-clients'

describe('A proxy', () => {
  const server = ownServer()
  let proxy: TcpProxy
  let client: Redis
  let direct: Redis

  beforeEach(async () => {
    proxy = await openProxy(server)
    client = connectTo(proxy.url, { maxRetriesPerRequest: 0, retryStrategy: () => 20 })
    direct = connectTo(server.url)
    await direct.flushall()
    await client.ping()
  })

  it('A proxy passes commands and replies of any size on unchanged', async () => {
    const large = 'x'.repeat(1_000_000)
    const replies = await client
      .pipeline()
      .set('large', large)
      .get('large')
      .hset('hash', 'a', 'b')
      .hgetall('hash')
      .exec()
    expect(replies).to.deep.equal([
      [null, 'OK'],
      [null, large],
      [null, 1],
      [null, { a: 'b' }],
    ])
  })

  it('A proxy cuts connections, and lets new ones through', async () => {
    expect(proxy.connections).to.equal(1)
    const waiting = client.blpop('never', 0)
    expect(await staysSilent(waiting)).to.equal(true)
    proxy.cut()
    await rejects(waiting)
    expect(await client.ping()).to.equal('PONG')
  })

  it('A proxy refuses new connections until it accepts again', async () => {
    proxy.refuse()
    proxy.cut()
    await rejects(client.ping())
    await proxy.accept()
    await waitUntil('the client is back', async () => (await client.ping()) === 'PONG')
  })

  it('A proxy holds back both directions, or only the replies', async () => {
    proxy.stall()
    const stalled = client.set('stalled', 'value')
    expect(await staysSilent(stalled)).to.equal(true)
    expect(await direct.get('stalled')).to.equal(null)
    proxy.resume()
    expect(await stalled).to.equal('OK')

    proxy.stallReplies()
    const unanswered = client.set('unanswered', 'value')
    expect(await staysSilent(unanswered)).to.equal(true)
    expect(await direct.get('unanswered')).to.equal('value')
    proxy.resume()
    expect(await unanswered).to.equal('OK')
  })

  it('A proxy loses exactly one reply, of a command that was executed', async () => {
    const dropped = proxy.dropNextReply(([name]) => name === 'incr')
    const before = client.set('counter', 0)
    const lost = client.incr('counter')
    expect(await before).to.equal('OK')
    await rejects(lost)
    await dropped
    expect(await direct.get('counter')).to.equal('1')
    expect(await client.incr('counter')).to.equal(2)
  })

  it('A proxy loses the confirmation of a subscription', async () => {
    const subscriber = connectTo(proxy.url, { maxRetriesPerRequest: 0, autoResubscribe: false })
    await subscriber.ping()
    const dropped = proxy.dropNextReply(([name]) => name === 'subscribe')
    await rejects(subscriber.subscribe('channel'))
    await dropped
  })

  it('A proxy delivers what a client left behind later, and not after it was dropped', async () => {
    for (const dropped of [false, true]) {
      const left = connectTo(proxy.url, { maxRetriesPerRequest: 0, retryStrategy: () => null })
      await left.ping()
      proxy.stall()
      const unsent = left.set(`left ${dropped}`, 'value')
      expect(await staysSilent(unsent)).to.equal(true)
      proxy.deliverLate(400)
      proxy.resume()
      await rejects(unsent)
      expect(await direct.get(`left ${dropped}`)).to.equal(null)
      if (dropped) proxy.dropLate()
      else
        await waitUntil('the late command is there', async () => (await direct.get('left false')) === 'value')
    }
    await new Promise((resolve) => setTimeout(resolve, 400))
    expect(await direct.exists('left true')).to.equal(0)
  })

  it('A proxy delays each direction', async () => {
    proxy.delay(50)
    const start = performance.now()
    await client.ping()
    expect(performance.now() - start).to.be.within(95, 1000)
  })
})
