import { expect } from 'chai'
import type { RCountDownLatch } from '../../src/index'
import { TimeUnit } from '../../src/index'
import { script } from '../../src/scripts/script'
import { createRedisson, openRedis, rejection, uniqueName } from '../kit/clients'
import { clientAndRedis, name, redis, redisson } from '../kit/each-test'
import { FastClock } from '../kit/fast-clock'
import { expectHandledRejections, stillPending } from '../kit/observing'
import { openProxy } from '../kit/proxies'
import { SentScripts } from '../kit/sent-scripts'
import { sharedCluster, waitUntil, without } from '../kit/servers/index'
import { asleep } from '../kit/sleepers'
import { defaultServer, NO_CLUSTER, NO_DATABASES, NO_USERS, skipInMemory } from '../kit/stand-in'
import { latch as newGate, tapped } from '../kit/tapped-transport'

const channelOf = (name: string) => `redisson_countdownlatch__channel__{${name}}`

describe('A latch', () => {
  expectHandledRejections()

  clientAndRedis('latch')

  let latch: RCountDownLatch
  beforeEach(() => {
    latch = redisson.getCountDownLatch(name)
  })

  it('A latch is set once, counted down to zero, and gone then', async () => {
    expect(await latch.getCount()).to.equal(0)
    expect(await latch.trySetCount(2)).to.equal(true)
    expect(await latch.trySetCount(5)).to.equal(false)
    expect(await redis.get(name)).to.equal('2')
    await latch.countDown()
    expect(await latch.getCount()).to.equal(1)
    await latch.countDown()
    expect(await latch.getCount()).to.equal(0)
    await latch.countDown()
    expect(await redis.exists(name)).to.equal(0)
    expect(latch.getName()).to.equal(name)
    expect(JSON.stringify(latch)).to.equal(JSON.stringify({ name }))
  })

  it('A latch with the greatest count of Java is closed (V187)', async () => {
    await redis.set(name, `${2n ** 63n - 1n}`)
    expect(await latch.await(0)).to.equal(false)
    expect(await latch.getCount()).to.equal(2 ** 63)
  })

  it('A latch that was never set is open (L6)', async () => {
    expect(await latch.await()).to.equal(undefined)
    expect(await latch.await(0)).to.equal(true)
  })

  it('trySetCount() refuses a count below one, and a number that is not whole (L6)', async () => {
    for (const count of [0, -1, 1.5, Number.NaN, 2 ** 53])
      expect(await rejection(latch.trySetCount(count))).to.be.instanceOf(RangeError)
    expect(await rejection(latch.trySetCount('1' as never))).to.be.instanceOf(TypeError)
  })

  it('All waiters of a latch go on at zero, in this process and in another (L2)', async () => {
    const other = (await createRedisson()).getCountDownLatch(name)
    await latch.trySetCount(1)
    const waiting = [...Array.from({ length: 5 }, () => latch.await(5_000)), other.await(5_000)]
    await asleep(redisson, `latch ${name}`, 5)
    await other.countDown()
    expect(await Promise.all(waiting)).to.deep.equal(Array(6).fill(true))
  })

  it('A latch wait ends at its time, in any unit (L1)', async () => {
    await latch.trySetCount(1)
    expect(await latch.await(50)).to.equal(false)
    expect(await latch.await(0.05, TimeUnit.SECONDS)).to.equal(false)
    expect(await latch.await({ waitTime: 0 })).to.equal(false)
  })

  it('A wait of 0 asks the server, also beside a caller that sleeps (V14)', async () => {
    await latch.trySetCount(1)
    const waiting = latch.await()
    await asleep(redisson, `latch ${name}`)
    // Without a message: the caller that sleeps does not learn of it.
    await redis.del(name)
    expect(await latch.await(0)).to.equal(true)
    await redis.publish(`redisson_countdownlatch__channel__{${name}}`, '0')
    await waiting
  })

  it('A thousand latch waiters look three times; one that missed it within 30 s (S1, L1)', async () => {
    const scripts = new SentScripts()
    const clock = new FastClock(20)
    const redisson = await createRedisson({}, { clock, transport: scripts.transport })
    const latch = redisson.getCountDownLatch(name)
    await latch.trySetCount(1)
    const begun = clock.now()
    const waiting = Array.from({ length: 1_000 }, () => latch.await())
    await asleep(redisson, `latch ${name}`, 1_000)
    const looks = () =>
      scripts.sent.filter((sent) => sent.name.endsWith('get-count') && !sent.bySource).length
    // On a busy machine, the callers may still be falling asleep when the first look again is due.
    const due = () => Math.floor(clock.elapsedSince(begun) / 10_000)
    expect(looks()).to.be.at.most(3 + due())
    // As if the message had been lost: nothing is published.
    await redis.del(name)
    const started = clock.now()
    await Promise.all(waiting)
    // On a busy machine a second of this clock is soon over: it goes twenty times as fast.
    expect(clock.elapsedSince(started)).to.be.within(10_000, 150_000)
    expect(looks()).to.be.at.most(5 + due())
  })

  it("A latch set anew before a waiter looked keeps it waiting, as Java's does", async () => {
    await latch.trySetCount(1)
    const waiting = [latch.await(5_000), latch.await(5_000)]
    await asleep(redisson, `latch ${name}`, 2)
    await redis
      .multi()
      .del(name)
      .publish(channelOf(name), '0')
      .set(name, '2')
      .publish(channelOf(name), '1')
      .exec()
    expect(await stillPending(Promise.race(waiting))).to.equal(true)
    await latch.countDown()
    await latch.countDown()
    expect(await Promise.all(waiting)).to.deep.equal([true, true])
  })

  it('A look answers for no caller that came after it was sent (V183)', async () => {
    let looks = 0
    const answers = newGate()
    const transport = tapped(async (sent) => {
      const answer = await sent.pass()
      if (sent.name === 'count-down-latch/get-count' && ++looks === 2) await answers.opened
      return answer
    })
    const redisson = await createRedisson({}, { transport })
    const latch = redisson.getCountDownLatch(name)
    await latch.getCount()
    const first = latch.await()
    await waitUntil('the first one looks', () => looks === 2)
    await redis.set(name, '1')
    const second = latch.await(300)
    answers.open()
    expect([await first, await second]).to.deep.equal([undefined, false])
    await latch.countDown()
  })

  for (const end of ['countDown', 'delete'] as const)
    it(`The ${end}() of a latch with the same name in another database lets no waiter go (V177)`, async function () {
      skipInMemory(this, NO_DATABASES)
      const { url } = await defaultServer()
      const elsewhere = (await createRedisson({ redis: `${url}/1` })).getCountDownLatch(name)
      await latch.trySetCount(2)
      await elsewhere.trySetCount(1)
      const waiting = latch.await(400)
      await asleep(redisson, `latch ${name}`)
      await elsewhere[end]()
      await elsewhere.trySetCount(1)
      expect(await waiting).to.equal(false)
      expect(await latch.getCount()).to.equal(2)
      await elsewhere.delete()
    })

  it('A deleted latch lets its waiters go, and says 0 to its channel and nothing else (L5)', async () => {
    const ear = await openRedis()
    const heard: string[] = []
    ear.on('message', (_, message) => heard.push(message))
    await ear.subscribe(channelOf(name))
    expect(await latch.delete()).to.equal(false)
    await latch.trySetCount(3)
    const waiting = latch.await(5_000)
    await asleep(redisson, `latch ${name}`)
    expect(await latch.delete()).to.equal(true)
    expect(await waiting).to.equal(true)
    await waitUntil('all is heard', () => heard.length === 2)
    expect(heard).to.deep.equal(['1', '0'])
  })

  it('A cluster refuses a latch name with braces, with a reason; it works elsewhere (L7)', async function () {
    skipInMemory(this, NO_CLUSTER)
    const cluster = await createRedisson({
      redis: { nodes: (await sharedCluster()).nodes.map(({ host, port }) => ({ host, port })) },
    })
    expect(() => cluster.getCountDownLatch('a{b}c')).to.throw(TypeError, /CROSSSLOT/)
    const inCluster = cluster.getCountDownLatch(uniqueName('latch'))
    await inCluster.trySetCount(1)
    const waiting = inCluster.await(5_000)
    await asleep(cluster, `latch ${inCluster.getName()}`)
    await inCluster.countDown()
    expect(await waiting).to.equal(true)
    const name = `${uniqueName()}a{b}c`
    const latch = redisson.getCountDownLatch(name)
    await latch.trySetCount(1)
    const here = latch.await(5_000)
    await asleep(redisson, `latch ${name}`)
    await latch.countDown()
    expect(await here).to.equal(true)
  })

  it('A key that holds no count is a WrongTypeError to a latch, and stays as it is', async () => {
    await redis.hset(name, 'field', '1')
    for (const call of [
      () => latch.countDown(),
      () => latch.trySetCount(1),
      () => latch.getCount(),
      () => latch.delete(),
      () => latch.await(),
    ])
      expect(await rejection(call())).to.have.property('code', 'WRONG_TYPE')
    expect(await redis.hgetall(name)).to.deep.equal({ field: '1' })
  })

  it('A latch is counted down once by each call though its reply is lost, and set once (L3)', async () => {
    const proxy = await openProxy(await defaultServer())
    const redisson = await createRedisson({ redis: proxy.url })
    const latch = redisson.getCountDownLatch(name)
    // The scripts must be known: the reply that is lost is to be theirs.
    await latch.trySetCount(1)
    await latch.countDown()
    await latch.delete()
    const lose = (of: Parameters<typeof script>[0]) => {
      const { sha } = script(of, String)
      return proxy.dropNextReply((words) => words[1] === sha)
    }
    let lost = lose('count-down-latch/try-set-count')
    expect(await latch.trySetCount(3)).to.equal(true)
    await lost
    lost = lose('count-down-latch/count-down')
    await latch.countDown()
    await lost
    expect(await latch.getCount()).to.equal(2)
    lost = lose('count-down-latch/delete')
    expect(await latch.delete()).to.equal(true)
    await lost
    expect(await redis.exists(name)).to.equal(0)
  })

  it('A countDown whose copy arrives in the next generation leaves that alone (L3)', async function () {
    skipInMemory(this, NO_USERS)
    const server = await defaultServer()
    const proxy = await openProxy(server)
    const user = uniqueName('no-kill').replaceAll(':', '-')
    // Without CLIENT KILL a broken connection cannot be fenced: the copy does arrive.
    await redis.call('ACL', 'SETUSER', user, 'on', '>pw', '~*', '&*', '+@all', ...without('client', 'kill'))
    try {
      const redisson = await createRedisson({
        redis: `redis://${user}:pw@${proxy.host}:${proxy.port}`,
      })
      const name = uniqueName('latch')
      const latch = redisson.getCountDownLatch(name)
      await latch.trySetCount(1)
      const { sha } = script('count-down-latch/count-down', String)
      const withheld = proxy.withhold((words) => words[1] === sha && words.includes(name))
      const counting = latch.countDown()
      const copy = await withheld
      await counting
      expect(await redis.exists(name)).to.equal(0)
      await latch.trySetCount(1)
      expect(await copy.arrive()).to.equal('executed')
      expect(await latch.getCount()).to.equal(1)
    } finally {
      await redis.call('ACL', 'DELUSER', user)
    }
  })

  it("A latch's records are gone in a minute, and keep no answers that were seen", async () => {
    await latch.trySetCount(50)
    for (let each = 0; each < 20; each++) await latch.countDown()
    const record = `rlock_requests:{${name}}:${redisson.getId()}`
    expect(await redis.hlen(record)).to.equal(1)
    expect(await redis.pttl(record)).to.be.within(50_000, 60_000)
  })
})
