import { randomBytes } from 'node:crypto'
import { expect } from 'chai'
import type { Redis } from 'ioredis'
import type { Redisson, RedissonOptions } from '../../src/index'
import { createRedisson, openRedis, rejection, uniqueName } from '../kit/clients'
import { ownServer, sharedCluster, waitUntil } from '../kit/servers/index'

interface Answer {
  readonly client: string
  readonly label: string
  readonly holds: Record<string, unknown>[]
  readonly waits: Record<string, unknown>[]
  readonly cut: boolean
}

describe('A client that answers inspectors', function () {
  this.timeout(60_000)
  const server = ownServer()
  let listener: Redis

  beforeEach(async () => {
    listener = await openRedis(server.url)
  })

  const create = (options: Partial<RedissonOptions> = {}) => createRedisson({ redis: server.url, ...options })
  const channelOf = (id: string) => `rlock:inspect:${id}`
  const newId = () => randomBytes(16).toString('hex')

  /** The answers to one request: of each client that is subscribed. */
  async function ask(request: object = {}, url = server.url): Promise<Answer[]> {
    const id = newId()
    const [inspector, asking] = [await openRedis(url), await openRedis(url)]
    const texts: string[] = []
    inspector.on('message', (_, text: string) => texts.push(text))
    await inspector.subscribe(channelOf(id))
    const asked = await asking.publish('rlock:inspect', JSON.stringify({ v: 1, id, ...request }))
    await waitUntil('all have answered', () => texts.length >= asked)
    return texts.map((text) => JSON.parse(text))
  }

  const listening = async (redis: Redis) => Number((await redis.pubsub('NUMSUB', 'rlock:inspect'))[1])

  it('A client that answers inspectors tells holds and waiters, since when, and its label', async () => {
    const [holder, waiter] = [await create({ label: 'web 1' }), await create()]
    const name = uniqueName()
    const hold = await holder.getLock(name).acquire()
    const waiting = waiter.getLock(name).acquire()
    await waitUntil('it waits', () => waiter.stats().waiting === 1)
    const answers = await ask()
    const [of, from] = [holder, waiter].map(
      (client) => answers.find((each) => each.client === client.getId())!,
    )
    expect(of!.label).to.equal('web 1')
    expect(from!.label).to.match(new RegExp(`:${process.pid}$`))
    expect(of!.holds).to.have.lengthOf(1)
    expect(of!.holds[0]).to.include({ key: name, name, kind: 'lock', owner: hold.owner })
    expect(of!.holds[0]!.heldFor).to.be.within(0, 30_000)
    expect(from!.waits).to.have.lengthOf(1)
    expect(from!.waits[0]).to.include({ key: name, place: 1 })
    expect(from!.waits[0]!.waitingFor).to.be.within(0, 30_000)
    await hold.unlock()
    await (await waiting).unlock()
  })

  it('A client that answers inspectors tells what the very caller holds that waits', async () => {
    const [client, other] = [await create(), await create()]
    const [mine, theirs] = [uniqueName(), uniqueName()]
    const blocking = await other.getLock(theirs).acquire()
    const nested = client.getLock(mine).withLock(() => client.getLock(theirs).withLock(() => {}))
    await waitUntil('it waits', () => client.stats().waiting === 1)
    const unrelated = await client.getLock(uniqueName()).acquire()
    const answer = (await ask({ key: theirs })).find((each) => each.client === client.getId())!
    expect(answer.waits[0]!.holding).to.deep.equal([
      `${client.holds().find(({ lockName }) => lockName === mine)!.owner} ${mine}`,
    ])
    await unrelated.unlock()
    await blocking.unlock()
    await nested
  })

  it('Answering inspectors costs an idle client one SUBSCRIBE and no connection more', async () => {
    await listener.config('RESETSTAT')
    const before = Number(/connected_clients:(\d+)/.exec(await listener.info('clients'))![1])
    await create({ inspectable: false })
    const without = Number(/connected_clients:(\d+)/.exec(await listener.info('clients'))![1]) - before
    expect(await listener.info('commandstats')).to.not.contain('cmdstat_subscribe')
    await create()
    await waitUntil('it is subscribed', async () => (await listening(listener)) === 1)
    const both = Number(/connected_clients:(\d+)/.exec(await listener.info('clients'))![1]) - before
    expect(both).to.equal(2 * without)
    expect(await listener.info('commandstats')).to.match(/cmdstat_subscribe:calls=1,/)
  })

  it('A client that answers inspectors bounds its answer in size, and its answers in number', async () => {
    const client = await create()
    const names = [...Array(500).keys()].map((at) => `${uniqueName()}:${at}:${'x'.repeat(200)}`)
    const holds = await Promise.all(names.map((name) => client.getLock(name).acquire()))
    const [answer] = await ask()
    expect(answer!.cut).to.equal(true)
    expect(JSON.stringify(answer).length).to.be.within(30_000, 65_536)
    // A key of its own is answered in full.
    expect((await ask({ key: names[499] }))[0]!.holds).to.have.lengthOf(1)
    let answers = 0
    const [inspector, asking] = [await openRedis(server.url), await openRedis(server.url)]
    inspector.on('pmessage', () => answers++)
    await inspector.psubscribe('rlock:inspect:*')
    const started = performance.now()
    const flood = asking.pipeline()
    for (let at = 0; at < 1_000; at++)
      flood.publish('rlock:inspect', JSON.stringify({ v: 1, id: newId(), key: names[0] }))
    await flood.exec()
    await client.getLock(names[0]!).isLocked()
    await inspector.ping()
    const seconds = Math.ceil((performance.now() - started) / 1_000) + 1
    expect(answers).to.be.within(1, 10 * seconds)
    await Promise.all(holds.map((hold) => hold.unlock()))
  })

  it('A client that answers inspectors ignores what is no request (V51)', async () => {
    const client = await create()
    await waitUntil('it is subscribed', async () => (await listening(listener)) === 1)
    const nonsense = [
      '',
      'null',
      '1',
      '[]',
      '{',
      `{"id":"${'f'.repeat(31)}"}`,
      '{"id":1}',
      'x'.repeat(100_000),
    ]
    for (const text of nonsense) await listener.publish('rlock:inspect', text)
    expect(await ask()).to.have.lengthOf(1)
    expect(await client.getLock(uniqueName()).tryLock()).to.equal(true)
  })

  it('A request does not stop a client whose thread holds 20,000 locks (V50)', async () => {
    const [client, other] = [await create(), await create()]
    const taken = await other.getLock(uniqueName()).acquire()
    await client.run(async () => {
      const holds = await Promise.all(
        Array.from({ length: 20_000 }, () => client.getLock(uniqueName()).acquire()),
      )
      const leaving = new AbortController()
      const waiting = client.getLock(taken.lockName).acquire({ signal: leaving.signal })
      await waitUntil('it waits', () => client.stats().waiting === 1)
      const asked = performance.now()
      await ask()
      expect(performance.now() - asked).to.be.below(1_000)
      leaving.abort()
      await rejection(waiting)
      await Promise.all(holds.map((hold) => hold.unlock()))
    })
    await taken.unlock()
  })

  it('A client with inspectable: false, or without the right to the channel, locks as any other', async () => {
    await listener.call('ACL', 'SETUSER', 'app', 'on', '>pw', '~*', '+@all', 'resetchannels', '&redisson_*')
    const { host, port } = server
    for (const options of [
      { inspectable: false },
      { redis: { host, port, username: 'app', password: 'pw' } },
    ]) {
      const client = await create(options)
      expect(await client.getLock(uniqueName()).withLock(() => 'inside')).to.equal('inside')
      expect(await listening(listener)).to.equal(0)
    }
  })
})

describe('A client in a cluster that answers inspectors', function () {
  this.timeout(60_000)

  /** Asks until this client has answered: its subscription may be on its way. */
  async function answerOf(client: Redisson, urls: readonly string[]): Promise<Answer> {
    const inspector = await openRedis(urls[0])
    const asking = await openRedis(urls[1])
    const found = new Promise<Answer>((resolve) => {
      inspector.on('pmessage', (_, __, text: string) => {
        const answer = JSON.parse(text)
        if (answer.client === client.getId()) resolve(answer)
      })
    })
    await inspector.psubscribe('rlock:inspect:*')
    const ask = () =>
      asking.publish('rlock:inspect', JSON.stringify({ v: 1, id: randomBytes(16).toString('hex') }))
    const again = setInterval(ask, 100)
    const answer = await found
    clearInterval(again)
    return answer
  }
  const urlsOf = async () => (await sharedCluster()).nodes.map(({ host, port }) => `redis://${host}:${port}`)

  it('A client in a cluster tells inspectors its waiters on the waiting connection', async () => {
    const urls = await urlsOf()
    const create = () => createRedisson({ redis: { nodes: urls } })
    const [holder, waiter] = [await create(), await create()]
    const hold = await holder.getLock(uniqueName()).acquire()
    const waiting = waiter.getLock(hold.lockName).acquire()
    await waitUntil('it waits', () => waiter.stats().waiting === 1)
    expect((await answerOf(waiter, urls)).waits[0]!.key).to.equal(hold.lockName)
    await hold.unlock()
    await (await waiting).unlock()
  })

  it('A client in a cluster answers inspectors that never waited, at no further connection', async () => {
    const urls = await urlsOf()
    const connectionsOf = async (client: Redisson) => {
      const lists = await Promise.all(
        urls.map(async (url) => String(await (await openRedis(url)).client('LIST'))),
      )
      return lists.join('').split(`name=rlock:${client.getId()} `).length - 1
    }
    const client = await createRedisson({ redis: { nodes: urls } })
    const hold = await client.getLock(uniqueName()).acquire({ leaseTime: 60_000 })
    const before = await connectionsOf(client)
    const { holds } = await answerOf(client, urls)
    expect(holds.map(({ key }) => key)).to.deep.equal([hold.lockName])
    // ioredis reads the map of slots on connections of its own, for a moment.
    await waitUntil('it has as many connections', async () => (await connectionsOf(client)) <= before)
    await hold.unlock()
  })

  it('A client in a cluster takes no request for an answer: locks work amid a thousand', async () => {
    const urls = await urlsOf()
    const client = await createRedisson({ redis: { nodes: urls } })
    await answerOf(client, urls)
    const asking = await openRedis(urls[2])
    const flood = asking.pipeline()
    for (let at = 0; at < 1_000; at++)
      flood.publish('rlock:inspect', JSON.stringify({ v: 1, id: randomBytes(16).toString('hex') }))
    const flooded = flood.exec()
    const prefix = uniqueName()
    await Promise.all(
      [...Array(300).keys()].map((at) =>
        client.getLock(`${prefix}:${at % 20}`).withLock(async () => {
          expect(await client.getLock(`${prefix}:${at % 20}`).isLocked()).to.equal(true)
        }),
      ),
    )
    await flooded
  })

  it('A client that speaks RESP2 in a cluster locks as any other while it is asked', async () => {
    const urls = await urlsOf()
    const client = await createRedisson({
      redis: { nodes: urls, options: { redisOptions: { protocol: 2 } } },
    })
    expect(await client.getLock(uniqueName()).withLock(() => 'inside')).to.equal('inside')
  })
})
