import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect } from 'chai'
import type { Redisson, RLock, RMultiLock } from '../../src/index'
import { loadAnotherCopy } from '../kit/another-copy'
import { createRedisson, rejection, uniqueName } from '../kit/clients'
import { internalsOf } from '../kit/internals'
import { JumpingClock } from '../kit/jumping-clock'
import { openProxy } from '../kit/proxies'
import { type Standalone, startStandalone, waitUntil } from '../kit/servers/index'
import { asleep } from '../kit/sleepers'

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

describe('Several locks as one', () => {
  let servers: Standalone[]
  let clients: Redisson[]
  let name: string

  before(async () => {
    servers = await Promise.all(Array.from({ length: 3 }, () => startStandalone({ appendonly: true })))
  })
  after(async () => {
    await Promise.all((servers ?? []).map((server) => server.stop()))
  })
  beforeEach(async () => {
    name = uniqueName('several')
    clients = await Promise.all(servers.map(({ url }) => createRedisson({ redis: url })))
  })

  const redLock = () => clients[0]!.getRedLock(...clients.map((client) => client.getLock(name)))

  describe('in two databases of one server', () => {
    it('unlock() of a multi lock frees no multi lock over the same names in another database (V3)', async () => {
      const second = await createRedisson({ redis: `${servers[0]!.url}/1` })
      const over = (client: Redisson) =>
        client.getMultiLock(client.getLock(`${name}:a`), client.getLock(`${name}:b`))
      for (const scope of [{}, { threadId: 7 }])
        await clients[0]!.run(async () => {
          const [one, other] = [over(clients[0]!), over(second)]
          const isHeld = (lock: typeof one) =>
            scope.threadId ? lock.isHeldByThread(scope.threadId) : lock.isHeldByCurrentThread()
          await one.lock(scope)
          await other.lock(scope)
          await one.unlock(scope)
          expect(await clients[0]!.getLock(`${name}:a`).isLocked()).to.equal(false)
          expect(await second.getLock(`${name}:a`).isLocked()).to.equal(true)
          expect([await isHeld(one), await isHeld(other)]).to.deep.equal([false, true])
          await other.unlock(scope)
        })
    })

    it('One name in two databases makes two members that fail together: a warning (V3)', async () => {
      const second = await createRedisson({ redis: `${servers[0]!.url}/1` })
      const warned = new Promise<Error & { code?: string }>((resolve) => process.once('warning', resolve))
      const locks = [clients[0]!.getLock(name), second.getLock(name)]
      await clients[0]!.getMultiLock(...locks).withLock(async () => {
        for (const lock of locks) expect(await lock.isLocked()).to.equal(true)
      })
      clients[0]!.getRedLock(...locks)
      expect((await warned).code).to.equal('RLOCK_ONE_SERVER')
      const twin = await createRedisson({ redis: `${servers[0]!.url}/1` })
      expect(() => clients[0]!.getMultiLock(...locks, twin.getLock(name))).to.throw(RangeError)
    })
  })

  describe('after a server is another one', () => {
    it('Another object finds a multi lock and a RedLock after a restart with data (V4)', async () => {
      const both = () =>
        clients[0]!.getMultiLock(clients[0]!.getLock(`${name}:a`), clients[0]!.getLock(`${name}:b`))
      await clients[0]!.run(async () => {
        for (const lock of [both, redLock]) {
          await lock().lock()
          await servers[0]!.restart()
          // The client has met the new server.
          await waitUntil('connected again', async () =>
            clients[0]!
              .getLock(`${name}:x`)
              .isLocked()
              .then(() => true),
          )
          expect(await lock().isHeldByCurrentThread()).to.equal(true)
          await lock().unlock()
        }
      })
      expect(await clients[0]!.getLock(`${name}:a`).isLocked()).to.equal(false)
      for (const client of clients) expect(await client.getLock(name).isLocked()).to.equal(false)
    })

    it('Another object finds a multi lock with a RedLock among its members (V4)', async () => {
      const lock = () => clients[0]!.getMultiLock(redLock(), clients[0]!.getLock(`${name}:a`))
      for (const scope of [{}, { threadId: 3 }])
        await clients[0]!.run(async () => {
          await lock().lock(scope)
          await lock().unlock(scope)
          for (const client of clients) expect(await client.getLock(name).isLocked()).to.equal(false)
        })
    })
  })

  it('The client forgets a multi lock that was released once and left to its lease (V194)', async () => {
    const lock = clients[0]!.getMultiLock(clients[0]!.getLock(`${name}:a`), clients[0]!.getLock(`${name}:b`))
    const options = { leaseTime: 500, threadId: 7 }
    await lock.lock(options)
    await lock.lock(options)
    // The leases of the members begin anew.
    await sleep(300)
    await lock.unlock({ threadId: 7 })
    const { entries } = internalsOf(clients[0]!).explicitHolds as unknown as {
      entries: Map<string, { hold: unknown }>
    }
    expect([...entries.values()].some(({ hold }) => hold)).to.equal(true)
    await waitUntil('no hold is left', () => [...entries.values()].every(({ hold }) => !hold))
  })

  it('A multi lock does not starve behind members that others use back to back (V23)', async function () {
    this.timeout(90_000)
    const other = await createRedisson({ redis: servers[0]!.url })
    const names = ['a', 'b', 'c'].map((each) => `${name}:${each}`)
    let isOver = false
    let sections = 0
    const users = names.map(async (each) => {
      while (!isOver)
        await other.getLock(each).withLock(async () => {
          sections++
          await sleep(150 + Math.random() * 300)
        })
    })
    const lock = clients[0]!.getMultiLock(...names.map((each) => clients[0]!.getLock(each)))
    const waits: number[] = []
    try {
      for (let round = 0; round < 3; round++) {
        const started = performance.now()
        await lock.withLock(() => {}, { waitTime: 20_000 })
        waits.push(Math.round(performance.now() - started))
        const before = sections
        await waitUntil('the others are at work', async () => sections > before + 3)
      }
    } finally {
      isOver = true
      await Promise.all(users)
    }
    console.log(`        waited ${waits.join(', ')} ms`)
  })

  it('Multi locks whose leases ended unreleased do not pile up in a long thread (V33)', async () => {
    const redisson = clients[0]!
    const leave = async (count: number) => {
      for (let done = 0; done < count; done += 100) {
        const locks = Array.from({ length: 100 }, (_, index) => {
          const each = `${name}:${done + index}`
          return redisson.getMultiLock(redisson.getLock(`${each}:a`), redisson.getLock(`${each}:b`))
        })
        await Promise.all(locks.map((lock) => lock.lock({ leaseTime: 100 })))
        // A loss that was noticed before the lease ended is forgotten as well.
        if (done % 200 === 0) await sleep(95)
        for (const lock of locks) await lock.isHeldByCurrentThread()
      }
      await sleep(300)
      return heapUsed()
    }
    await redisson.run(async () => {
      const before = await leave(1_200)
      const growth = (await leave(3_000)) - before
      expect(growth / 3_000).to.be.lessThan(2_000)
    })
  })

  for (const kind of ['RedLock', 'multi lock'])
    it(`unlock() of an expired level of a ${kind} frees no other level (V83)`, async () => {
      const [first] = clients as [Redisson]
      const make = {
        RedLock: redLock,
        'multi lock': () => first.getMultiLock(redLock(), first.getLock(`${name}:x`)),
      }[kind]!
      for (const scope of [{}, { threadId: 7 }])
        await first.run(async () => {
          const lock = make()
          await lock.lock(scope)
          await lock.lock({ ...scope, leaseTime: 200 })
          await sleep(300)
          await lock.lock(scope)
          await lock.unlock(scope)
          for (const client of clients) expect(await client.getLock(name).isLocked()).to.equal(true)
          await lock.unlock(scope)
          for (const client of clients) expect(await client.getLock(name).isLocked()).to.equal(false)
          for (const client of clients) expect(client.stats().held).to.equal(0)
          expect(await rejection(lock.unlock(scope))).to.include({ code: 'LOCK_LOST' })
        })
    })

  it('A multi lock that is aborted with a reason that has no text leaves no member held (V84)', async () => {
    const [first] = clients as [Redisson]
    const other = await createRedisson({ redis: servers[0]!.url })
    const [a, b, c] = ['a', 'b', 'c'].map((each) => first.getLock(`${name}:${each}`)) as [RLock, RLock, RLock]
    const [busy] = await Promise.all(['b', 'c'].map((each) => other.getLock(`${name}:${each}`).acquire()))
    const controller = new AbortController()
    const reason = Object.create(null)
    const waiting = rejection(first.getMultiLock(a, b, c).lock({ signal: controller.signal }))
    // So long it waits for the third member then, while it holds the others: a quarter of this.
    await sleep(2_000)
    await busy!.unlock()
    await waitUntil('it holds two members', async () => (await a.isLocked()) && (await b.isLocked()))
    controller.abort(reason)
    expect(await waiting).to.equal(reason)
    await waitUntil('no member is held', async () => !(await a.isLocked()) && !(await b.isLocked()))
    expect(first.stats().held).to.equal(0)
  })

  it('One lock that is given twice through locks of several is refused (V85)', () => {
    const [first] = clients as [Redisson]
    const [a, b, c] = clients.map((client) => client.getLock(name)) as [RLock, RLock, RLock]
    const twice = [
      () => first.getMultiLock(first.getRedLock(a, b, c), a),
      () => first.getMultiLock(first.getRedLock(a, b), first.getRedLock(b, c)),
      () => first.getRedLock(first.getMultiLock(a, b), first.getMultiLock(b, c)),
    ]
    for (const make of twice) expect(make).to.throw(RangeError, 'twice')
    expect(() => first.getMultiLock(first.getRedLock(a, b), c)).not.to.throw()
  })

  it('A lock of another library that throws where it should reject leaves no member held', async () => {
    const [first] = clients as [Redisson]
    const hold = {
      unlock: () => {
        throw new Error('not like this')
      },
    }
    const strange = { getName: () => 'zz', tryAcquire: () => hold }
    const busy = await (await createRedisson({ redis: servers[0]!.url })).getLock(`${name}:zzz`).acquire()
    // biome-ignore lint/suspicious/noExplicitAny: it breaks the types.
    const lock = first.getMultiLock(first.getLock(name), strange as any, first.getLock(`${name}:zzz`))
    expect(await lock.tryLock({ waitTime: 300, signal: new AbortController().signal })).to.equal(false)
    expect(await first.getLock(name).isLocked()).to.equal(false)
    await busy.unlock()
  })

  it('A RedLock without quorum rejects a re-entry; unlock() releases the rest (V41, V164)', async () => {
    const other = await createRedisson({ redis: servers[2]!.url })
    const [first] = clients as [Redisson]
    const within = () => first.getMultiLock(redLock(), first.getLock(`${name}:x`))
    for (const lock of [redLock, within])
      for (const scope of [{}, { threadId: 9 }])
        await first.run(async () => {
          const busy = await other.getLock(name).acquire()
          await lock().lock(scope)
          await busy.unlock()
          expect(await first.getLock(name).forceUnlock()).to.equal(true)
          expect(await rejection(lock().lock(scope))).to.include({ code: 'LOCK_LOST' })
          expect(await rejection(lock().unlock(scope))).to.include({ code: 'LOCK_LOST' })
          expect(await rejection(lock().unlock(scope))).to.include({ code: 'ILLEGAL_MONITOR_STATE' })
          for (const client of clients) expect(await client.getLock(name).isLocked()).to.equal(false)
          for (const client of clients) expect(client.stats().held).to.equal(0)
        })
  })

  it('A RedLock past its time, re-entered while members last, works as before (V55)', async () => {
    const clock = new JumpingClock()
    clients = await Promise.all(servers.map(({ url }) => createRedisson({ redis: url }, { clock })))
    const [first] = clients as [Redisson]
    for (const scope of [{}, { threadId: 9 }])
      await first.run(async () => {
        clock.jumped = 0
        await redLock().lock({ leaseTime: 600_000, ...scope })
        // Later than Redlock's validity, and earlier than the end of the members.
        clock.jumped = 596_000
        await redLock().lock(scope)
        expect(await redLock().isHeldByThread(9)).to.equal('threadId' in scope)
        expect(await redLock().isHeldByCurrentThread()).to.equal(!('threadId' in scope))
        await redLock().lock({ leaseTime: 300, ...scope })
        await sleep(350)
        await redLock().unlock(scope)
        // Those of the first section and of the last one.
        for (let times = 0; times < 2; times++)
          expect(await rejection(redLock().unlock(scope))).to.include({ code: 'LOCK_LOST' })
        expect(await rejection(redLock().unlock(scope))).to.include({ code: 'ILLEGAL_MONITOR_STATE' })
        for (const client of clients)
          await waitUntil('the member is free', async () => !(await client.getLock(name).isLocked()))
        for (const client of clients) expect(client.stats().held).to.equal(0)
      })
  })

  it('A multi lock waits for a RedLock member whose servers are silent for a while (V56)', async () => {
    const proxies = await Promise.all(servers.map((server) => openProxy(server)))
    clients = await Promise.all(
      proxies.map(({ url }) => createRedisson({ redis: url, lockWatchdogTimeout: 3_000 })),
    )
    const [first] = clients as [Redisson]
    const lock = first.getMultiLock(redLock(), first.getLock(`${name}:x`))
    for (const proxy of proxies.slice(1)) proxy.stall()
    setTimeout(() => {
      for (const proxy of proxies) proxy.resume()
    }, 1_000)
    await lock.lock()
    await lock.unlock()
    for (const client of clients) client.on('error', () => {})
    for (const proxy of proxies.slice(1)) proxy.stall()
    expect(await rejection(lock.tryLock(1_000))).to.include({ code: 'LOCK_QUORUM' })
  })

  it('unlock() releases members of other clients after a shutdown of its own (V43, V104)', async () => {
    const multiLock = () => clients[0]!.getMultiLock(...clients.map((client) => client.getLock(name)))
    const nested = () => clients[0]!.getMultiLock(redLock(), clients[0]!.getLock(`${name}:0`))
    for (const [lock, expected] of [
      [multiLock, 'REDISSON_SHUTDOWN'],
      [redLock, undefined],
      [nested, 'REDISSON_SHUTDOWN'],
    ] as const) {
      clients[0] = await createRedisson({ redis: servers[0]!.url })
      const own = lock()
      await own.lock({ leaseTime: 20_000 })
      await clients[0]!.shutdown({ timeout: 0 })
      const error = await own.unlock().catch((thrown) => thrown)
      expect(error?.code).to.equal(expected)
      for (const client of clients.slice(1)) expect(await client.getLock(name).isLocked()).to.equal(false)
      clients[0] = await createRedisson({ redis: servers[0]!.url })
      await clients[0]!.getLock(name).forceUnlock()
    }
  })

  it('shutdown() rejects a wait for a member of another client, and holds nothing (V46)', async () => {
    const holder = await createRedisson({ redis: servers[1]!.url })
    const member = () => clients[1]!.getLock(name)
    const waits: [string, (first: Redisson) => RMultiLock][] = [
      ['for its only member', (first) => first.getMultiLock(member())],
      ['beside a member of its own', (first) => first.getMultiLock(first.getLock(`${name}:0`), member())],
      ['in another multi lock', (first) => first.getMultiLock(clients[1]!.getMultiLock(member()))],
      ['as a RedLock', (first) => first.getRedLock(member())],
    ]
    for (const [title, lockOf] of waits) {
      const busy = await holder.getLock(name).acquire()
      const first = await createRedisson({ redis: servers[0]!.url })
      const lock = lockOf(first)
      const waiting = rejection(lock.lock())
      await asleep(clients[1]!, `lock ${name}`)
      await first.shutdown()
      expect(await waiting, title).to.include({ code: 'REDISSON_SHUTDOWN' })
      expect(clients[1]!.stats(), title).to.include({ waiting: 0, held: 0 })
      await busy.unlock()
      expect(await member().isLocked(), title).to.equal(false)
    }
  })

  describe('withLock()', () => {
    it('fn re-enters members of another copy of the package (V34)', async () => {
      const copy = loadAnotherCopy()
      const theirs = await copy.Redisson.create({ redis: servers[1]!.url })
      try {
        const member = theirs.getLock(name)
        const lock = clients[0]!.getMultiLock(clients[0]!.getLock(name), member)
        await lock.withLock(async () => {
          expect(await member.tryLock()).to.equal(true)
          await member.unlock()
        })
        expect(() => clients[0]!.getMultiLock(member, theirs.getLock(name))).to.throw(RangeError)
      } finally {
        await theirs.shutdown()
      }
    })
  })

  it('A semaphore is refused as a member when the lock is made (V36)', async () => {
    const [client] = clients as [Redisson]
    for (const semaphore of [client.getSemaphore(name), client.getPermitExpirableSemaphore(name)])
      for (const make of [client.getMultiLock.bind(client), client.getRedLock.bind(client)])
        expect(() => make(client.getLock(name), semaphore as unknown as RLock)).to.throw(
          TypeError,
          /semaphore/,
        )
  })
})

/** What is reachable, in bytes. */
function heapUsed(): number {
  setFlagsFromString('--expose-gc')
  ;(runInNewContext('gc') as () => void)()
  return process.memoryUsage().heapUsed
}
