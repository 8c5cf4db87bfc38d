import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { type Redisson, WrongTypeError } from 'rlock'
import { createRedisson, rejection, timed } from '../../../test/kit/clients'
import { name, redis, redisAndName } from '../../../test/kit/each-test'
import { ForeignLock } from '../../../test/kit/foreign-lock'
import { leftIn } from '../../../test/kit/left-in'
import { eventsOf } from '../../../test/kit/observing'
import { openProxy } from '../../../test/kit/proxies'
import { SentScripts } from '../../../test/kit/sent-scripts'
import { waitUntil } from '../../../test/kit/servers/index'
import { defaultServer, NO_USERS, skipInMemory } from '../../../test/kit/stand-in'
import { type Election, elect, type Leader } from '../src/index'

describe('elect', () => {
  redisAndName('election')

  const isLeader = (election: Election) => waitUntil('it leads', () => election.isLeader, 5_000, 1)

  /** Two candidates of two clients. The first one leads. */
  async function two() {
    const clients = [await createRedisson(), await createRedisson()] as const
    const a = elect(clients[0], name, { label: 'a' })
    await isLeader(a)
    const b = elect(clients[1], name, { label: 'b' })
    await waitUntil('b waits', () => clients[1].waiters().length === 1)
    return { clients, a, b }
  }

  it('The first candidate leads, and every candidate sees who leads, with label, term and time', async () => {
    const { a, b } = await two()
    expect([a.isLeader, a.term, b.isLeader, b.term]).to.deep.equal([true, 1, false, undefined])
    // The leader notes its label in the background.
    await waitUntil('the leader is noted', async () => (await b.leader())?.since !== undefined)
    const leader = (await b.leader())!
    expect({ ...leader, since: undefined }).to.deep.equal({ label: 'a', term: 1, since: undefined })
    expect(Number(leader.since)).to.be.within(Date.now() - 5_000, Date.now() + 50)
    expect(await redis.get(`redisson_lock_token:{${name}}`)).to.equal('1')
  })

  it('resign() hands over within 50 ms, the term rises, and the old leader stands again', async () => {
    const { a, b } = await two()
    const times: number[] = []
    for (const [from, to] of [
      [a, b],
      [b, a],
      [a, b],
      [b, a],
      [a, b],
    ] as const) {
      const term = from.term!
      times.push(
        await timed(async () => {
          await from.resign()
          expect(from.isLeader).to.equal(false)
          await isLeader(to)
        }),
      )
      expect(to.term).to.be.greaterThan(term)
    }
    expect(times.sort((one, other) => one - other)[2]).to.be.below(50)
  })

  it('The maxHoldTime of the client ends a term, and the leader stands again', async () => {
    const client = await createRedisson({ lockWatchdogTimeout: 3_000, maxHoldTime: 500 })
    const alone = elect(client, name)
    await isLeader(alone)
    const { term } = alone
    await waitUntil('it leads anew', () => (alone.term ?? 0) > term!, 5_000, 1)
  })

  it('A leader that resigns alone leads again, with a greater term', async () => {
    const alone = elect(await createRedisson(), name)
    await isLeader(alone)
    const { term } = alone
    await alone.resign()
    await isLeader(alone)
    expect(alone.term).to.be.greaterThan(term!)
  })

  it('lead() runs the work in each term, and the next one leads only when it has ended', async () => {
    const { clients } = await two()
    const stop = new AbortController()
    const [c, d] = clients.map((client) => elect(client, `${name}:work`, { signal: stop.signal }))
    const working = new Set<number>()
    const terms: number[] = []
    let most = 0
    const leading = [c!, d!].map((election) =>
      election.lead(async ({ term, signal }) => {
        working.add(term)
        terms.push(term)
        most = Math.max(most, working.size)
        if (!signal.aborted) await once(signal, 'abort')
        await sleep(30)
        working.delete(term)
      }),
    )
    for (let times = 0; times < 6; times++) {
      const begun = terms.length
      await waitUntil('one works', () => working.size === 1 && (c!.isLeader || d!.isLeader))
      await (c!.isLeader ? c! : d!).resign()
      await waitUntil('the next one works', () => terms.length > begun)
    }
    stop.abort()
    await Promise.all(leading)
    expect(most).to.equal(1)
    expect(terms).to.deep.equal([...terms].sort((one, other) => one - other))
    expect(new Set(terms).size).to.equal(terms.length)
    expect(await redis.exists(`${name}:work`)).to.equal(0)
  })

  it('resign() within the work does not wait for that work', async () => {
    const { clients } = await two()
    const stop = new AbortController()
    const election = elect(clients[0], `${name}:work`, { signal: stop.signal })
    await election.lead(async () => {
      await election.resign()
      stop.abort()
    })
    expect(await redis.exists(`${name}:work`)).to.equal(0)
  })

  it('Work that fails ends the candidacy: lead() rejects, and another one leads', async () => {
    const { a, b, clients } = await two()
    clients[0].on('error', (error) => expect.fail(`an event as well: ${error.message}`))
    const error = await rejection(a.lead(() => Promise.reject(new Error('broken'))))
    expect(error.message).to.equal('broken')
    await isLeader(b)
    await sleep(50)
    expect(a.isLeader).to.equal(false)
    expect((await rejection(a.lead(() => {}))).message).to.equal('broken')
  })

  it('The signal, and shutdown() of the client, hand over at once (guarantee 9)', async () => {
    const stop = new AbortController()
    const [one, other, third] = [await createRedisson(), await createRedisson(), await createRedisson()]
    const a = elect(one, name, { signal: stop.signal })
    await isLeader(a)
    const b = elect(other, name)
    await waitUntil('b waits', () => other.waiters().length === 1)
    const leading = a.lead(({ signal }) => once(signal, 'abort'))
    stop.abort(new Error('enough'))
    expect(a.isLeader).to.equal(false)
    await leading
    await isLeader(b)
    const c = elect(third, name)
    await waitUntil('c waits', () => third.waiters().length === 1)
    const ended = b.lead(async ({ signal }) => {
      await once(signal, 'abort')
      expect(signal.reason.code).to.equal('REDISSON_SHUTDOWN')
    })
    expect(await timed(() => other.shutdown())).to.be.below(1_000)
    await ended
    await isLeader(c)
    expect(() => elect(other, name)).to.throw('is shut down')
  })

  it('An owner of Java that holds the fenced lock leads, and a candidate follows its release', async () => {
    const java = new ForeignLock(redis, name)
    // Of a process that was killed.
    await redis.hset(`rlock_leader:{${name}}`, { owner: 'old:1', label: 'old', term: 6, since: 5 })
    await redis.incrby(`redisson_lock_token:{${name}}`, 7)
    await java.take(60_000)
    const client = await createRedisson()
    const election = elect(client, name)
    await waitUntil('it waits', () => client.waiters().length === 1)
    const leader = await election.leader()
    expect(leader).to.include({ term: 7, since: undefined })
    expect(leader!.label).to.match(/^[0-9a-f-]{36}:\d+$/)
    await java.release()
    await isLeader(election)
    expect(election.term).to.equal(8)
  })

  it('observe() yields each leader, the present one first, and asks nothing while none changes', async () => {
    const { a, b } = await two()
    const sent = new SentScripts()
    const watcher = await createRedisson({}, { transport: sent.transport })
    const stop = new AbortController()
    const election = elect(watcher, name, { signal: stop.signal, label: 'watcher' })
    const seen: Leader[] = []
    const observing = (async () => {
      for await (const leader of election.observe()) seen.push(leader)
    })()
    await waitUntil('it sees a', () => seen.length === 1)
    await sleep(200)
    sent.names.length = 0
    await sleep(500)
    expect(sent.names).to.deep.equal([])
    stop.abort()
    await observing
    const stopSecond = new AbortController()
    const second = elect(await createRedisson(), `${name}:other`, { signal: stopSecond.signal })
    await isLeader(second)
    stopSecond.abort()
    expect(seen.map(({ label, term }) => [label, term])).to.deep.equal([['a', 1]])
    const told = b.observe()[Symbol.asyncIterator]()
    expect((await told.next()).value).to.include({ label: 'a', term: 1 })
    const next = told.next()
    await a.resign()
    expect(
      await timed(async () => expect((await next).value).to.include({ label: 'b', term: 2 })),
    ).to.be.below(1_000)
  })

  it('With candidate: false it sees who leads, and never leads itself', async () => {
    const client = await createRedisson()
    const stop = new AbortController()
    const watcher = elect(client, name, { candidate: false, signal: stop.signal })
    const told = watcher.observe()[Symbol.asyncIterator]()
    const next = told.next()
    expect(await rejection(watcher.lead(() => {}))).to.be.instanceOf(TypeError)
    const alone = elect(await createRedisson(), name, { label: 'a' })
    expect((await next).value).to.include({ label: 'a', term: 1 })
    expect(await watcher.leader()).to.include({ label: 'a', term: 1 })
    await alone.resign()
    expect((await told.next()).value).to.include({ label: 'a', term: 2 })
    await watcher.resign()
    expect([watcher.isLeader, watcher.term]).to.deep.equal([false, undefined])
    const last = told.next()
    stop.abort()
    expect((await last).done).to.equal(true)
    await waitUntil('nothing is left', () => Object.keys(leftIn(client)).length === 0)
  })

  it('A leader that is cut off finds that it does not lead before another one does (guarantee 5)', async function () {
    skipInMemory(this, NO_USERS)
    const proxy = await openProxy(await defaultServer())
    const cutOff = await createRedisson({ redis: proxy.url, lockWatchdogTimeout: 1_000 })
    cutOff.on('error', () => {})
    const a = elect(cutOff, name)
    await isLeader(a)
    const b = elect(await createRedisson(), name)
    const working = a.lead(({ signal }) => once(signal, 'abort'))
    proxy.stall()
    await waitUntil(
      'b leads',
      () => {
        expect(a.isLeader && b.isLeader).to.equal(false)
        return b.isLeader
      },
      5_000,
      1,
    )
    proxy.resume()
    await b.resign()
    await isLeader(a)
    expect(a.term).to.be.greaterThan(1)
    await cutOff.shutdown()
    await working
  })

  it('A candidate goes on after an outage of Redis, and so does an observer', async function () {
    skipInMemory(this, NO_USERS)
    const proxy = await openProxy(await defaultServer())
    const client = await createRedisson({ redis: proxy.url }, { unavailableAfter: 300 })
    client.on('error', () => {})
    proxy.breakOff()
    const errors: unknown[] = []
    const election = elect(client, name)
    election.lead(() => {}).catch((error) => errors.push(error))
    const first = election.observe()[Symbol.asyncIterator]().next()
    await sleep(1_500)
    expect([election.isLeader, errors]).to.deep.equal([false, []])
    await proxy.accept()
    await waitUntil('it leads', () => election.isLeader)
    // An attempt that was given up may have drawn a token before.
    expect((await first).value).to.include({ term: election.term })
  })

  it('A leader whose event loop was blocked finds that it does not lead at its next look', async () => {
    const client = await createRedisson({ lockWatchdogTimeout: 200 })
    const election = elect(client, name)
    await isLeader(election)
    const { term } = election
    const until = performance.now() + 250
    while (performance.now() < until);
    expect([election.isLeader, election.term]).to.deep.equal([false, undefined])
    await isLeader(election)
    expect(election.term).to.be.greaterThan(term!)
  })

  it('onElected is called in each term, and what it throws is raised as an error', async () => {
    const client = await createRedisson()
    const errors: string[] = []
    client.on('error', (error) => errors.push(error.message))
    const terms: number[] = []
    const election = elect(client, name, {
      onElected: ({ term, signal }) => {
        expect(signal.aborted).to.equal(false)
        terms.push(term)
        throw new Error(`told of ${term}`)
      },
    })
    await isLeader(election)
    await election.resign()
    await waitUntil('it is told again', () => terms.length === 2)
    expect(terms).to.deep.equal([1, 2])
    expect(errors).to.deep.equal(['told of 1', 'told of 2'])
  })

  it('A key that is no lock ends the candidacy: lead() rejects, or else the event error tells', async () => {
    await redis.set(name, 'x')
    const client = await createRedisson()
    const errors = eventsOf(client, 'error')
    expect(await rejection(elect(client, name).lead(() => {}))).to.be.instanceOf(WrongTypeError)
    expect(errors).to.deep.equal([])
    elect(client, name)
    await waitUntil('the event', () => errors.length === 1)
    expect(errors[0]).to.be.instanceOf(WrongTypeError)
  })

  it('A candidate in a logical thread that holds the lock re-enters nothing', async () => {
    const client = await createRedisson()
    const stop = new AbortController()
    await client.getFencedLock(name).withLock(async () => {
      const election = elect(client, name, { signal: stop.signal })
      await waitUntil('it waits', () => client.waiters().length === 1)
      expect(election.isLeader).to.equal(false)
    })
    stop.abort()
  })

  it('Nothing is left of candidacies that ended (guarantee 7)', async () => {
    const client = await createRedisson()
    for (let times = 0; times < 20; times++) {
      const stop = new AbortController()
      const election = elect(client, name, { signal: stop.signal })
      await election.lead(() => stop.abort())
    }
    await waitUntil('nothing is left', () => Object.keys(leftIn(client)).length === 0)
    expect(await redis.exists(name)).to.equal(0)
  })

  it('elect refuses bad arguments at once', async () => {
    const client = await createRedisson()
    expect(() => elect(client, '')).to.throw(TypeError)
    expect(() => elect({} as Redisson, name)).to.throw(TypeError)
    expect(() => elect(client, name, { signal: 3 } as never)).to.throw(TypeError)
    expect(() => elect(client, name, { label: 3 } as never)).to.throw(TypeError)
    expect(() => elect(client, name, { onElected: 3 } as never)).to.throw(TypeError)
    expect(() => elect(client, name, { candidate: 'no' } as never)).to.throw(TypeError)
    expect(() => elect(client, name, { lable: 'a' } as never)).to.throw(TypeError)
    expect(client.waiters()).to.deep.equal([])
  })
})
