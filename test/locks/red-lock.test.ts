import { expect } from 'chai'
import type { Redis } from 'ioredis'
import {
  type Lockable,
  type LockHold,
  type LockLostError,
  type LockQuorumError,
  type Redisson,
  RedisUnavailableError,
} from '../../src/index'
import { anyHandleSuite } from '../contract/any-handle'
import { redLockHandles } from '../contract/handles'
import { createRedisson, openRedis, rejection, timed, uniqueName } from '../kit/clients'
import { FastClock } from '../kit/fast-clock'
import { ForeignLock } from '../kit/foreign-lock'
import { keptBy } from '../kit/left-in'
import { expectHandledRejections, stillPending } from '../kit/observing'
import { openProxy } from '../kit/proxies'
import { type Standalone, startStandalone, type TcpProxy, waitUntil } from '../kit/servers/index'

/** A tenth of it bounds each try: long enough for a busy machine. */
const LEASE = 3_000
const PASSWORD = 'geheim-5-servers'

anyHandleSuite(redLockHandles)
const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

describe('A RedLock', () => {
  expectHandledRejections()
  let servers: Standalone[]
  let proxies: TcpProxy[]
  let clients: Redisson[]
  let redis: Redis[]
  let name: string

  before(async () => {
    servers = await Promise.all(Array.from({ length: 5 }, () => startStandalone({ requirepass: PASSWORD })))
  })
  after(async () => {
    await Promise.all((servers ?? []).map((server) => server.stop()))
  })
  beforeEach(async () => {
    name = uniqueName('red')
    proxies = await Promise.all(servers.map((server) => openProxy(server)))
    clients = await connect()
    redis = await Promise.all(servers.map((server) => openRedis(server.url)))
    for (const each of redis) each.on('error', () => {})
  })

  const connect = () =>
    Promise.all(
      proxies.map(({ host, port }) =>
        createRedisson({ redis: { host, port, password: PASSWORD }, lockWatchdogTimeout: LEASE }),
      ),
    )
  const redLock = (of: readonly Redisson[] = clients, key = name) =>
    of[0]!.getRedLock(...of.map((client) => client.getLock(key)))
  /** On which servers the lock is held. */
  const holders = async (of: number[] = [0, 1, 2, 3, 4]) => {
    const there = await Promise.all(of.map((index) => redis[index]!.exists(name)))
    return of.filter((_, at) => there[at] === 1)
  }
  const untilHeldOn = async (expected: number[], of?: number[]) => {
    await waitUntil(`held on ${expected}`, async () => `${await holders(of)}` === `${expected}`)
  }
  const foreign = (index: number) => new ForeignLock(redis[index]!, name)

  it('A RedLock is held on all servers that answer, and unlock() frees all members', async () => {
    const others = redLock(await connect())
    const lock = redLock()
    await lock.lock()
    await untilHeldOn([0, 1, 2, 3, 4])
    expect(await lock.isHeldByCurrentThread()).to.equal(true)
    expect(await others.tryLock()).to.equal(false)
    const waiting = others.lock()
    expect(await stillPending(waiting, 300)).to.equal(true)
    await lock.unlock()
    expect(await timed(() => waiting)).to.be.lessThan(2_000)
    await others.unlock()
    await untilHeldOn([])
    await clients[0]!.run(async () => {
      await redLock().lock()
      await redLock().withLock(() => {}, { leaseTime: 2_000 })
      expect(await redLock().isHeldByCurrentThread()).to.equal(true)
      await redLock().unlock()
    })
    await untilHeldOn([])
  })

  it('Three contenders get their turns, one at a time', async () => {
    const all = [clients, await connect(), await connect()]
    let [inside, turns] = [0, 0]
    await Promise.all(
      all.map(async (each) => {
        for (let i = 0; i < 5; i++)
          await redLock(each).withLock(async () => {
            expect(++inside).to.equal(1)
            await new Promise((resolve) => setTimeout(resolve, 5))
            inside--
            turns++
          })
      }),
    )
    expect(turns).to.equal(15)
    await untilHeldOn([])
    const isIdle = (client: Redisson) => {
      const { queues, orphans, entries } = keptBy(client)
      return queues === 0 && orphans === 0 && entries === 0
    }
    await waitUntil('nothing is left in the clients', async () => all.flat().every(isIdle))
  })

  it('A RedLock that is aborted while it waits or is unanswered leaves nothing held (M2)', async () => {
    for (const index of [0, 1, 2]) await foreign(index).take(60_000)
    const abort = new AbortController()
    const waiting = redLock().lock({ signal: abort.signal })
    await stillPending(waiting, 200)
    abort.abort(new Error('enough'))
    expect((await rejection(waiting)).message).to.equal('enough')
    await untilHeldOn([0, 1, 2])
    for (const index of [0, 1, 2]) await foreign(index).release()
    for (const index of [0, 1, 2]) proxies[index]!.stallReplies()
    const again = new AbortController()
    const acquiring = redLock().lock({ signal: again.signal })
    await untilHeldOn([0, 1, 2, 3, 4])
    again.abort(new Error('enough'))
    expect((await rejection(acquiring)).message).to.equal('enough')
    for (const index of [0, 1, 2]) proxies[index]!.resume()
    await untilHeldOn([])
  })

  it('Permanent errors of a quorum reject a RedLock at once, of a minority do not (M7)', async () => {
    const wrong: Lockable = { tryAcquire: () => Promise.reject(new TypeError('no such thing')) }
    const broken = (count: number) =>
      clients[0]!.getRedLock(
        ...Array.from({ length: count }, () => ({ ...wrong })),
        ...clients.slice(count).map((client) => client.getLock(name)),
      )
    await broken(2).withLock(() => {})
    let error!: Error
    expect(
      await timed(async () => {
        error = await rejection(broken(3).lock())
      }),
    ).to.be.lessThan(1_500)
    expect(error).to.be.instanceOf(TypeError)
    await untilHeldOn([])
  })

  it('A stalled server delays a RedLock by its limits at most, and holds nothing later (M8)', async () => {
    const lock = redLock()
    await lock.withLock(() => {})
    proxies[0]!.stallReplies()
    let hold!: LockHold
    // A tenth of the lease.
    expect(
      await timed(async () => {
        hold = await lock.acquire({ leaseTime: 5_000 })
      }),
    ).to.be.lessThan(900)
    expect(await timed(() => hold.unlock())).to.be.lessThan(300)
    await untilHeldOn([], [1, 2, 3, 4])
    proxies[0]!.resume()
    await untilHeldOn([])
    const all = await lock.acquire({ leaseTime: 20_000 })
    expect(all.holds).to.have.length(5)
    proxies[0]!.stallReplies()
    // The others are free meanwhile.
    const unlocking = timed(() => all.unlock())
    await untilHeldOn([], [1, 2, 3, 4])
    expect(await unlocking).to.be.lessThan(1_500)
    proxies[0]!.resume()
    await untilHeldOn([])
  })

  it('A member that answers within a tenth of the lease counts, later is released (M8)', async () => {
    const lock = redLock()
    await lock.withLock(() => {})
    for (const [stalled, counts] of [
      [50, true],
      [LEASE / 10 + 150, false],
    ] as const) {
      proxies[4]!.stall()
      const resumed = sleep(stalled).then(() => proxies[4]!.resume())
      const hold = await lock.acquire()
      expect(hold.holds).to.have.length(counts ? 5 : 4)
      await resumed
      if (!counts) await untilHeldOn([0, 1, 2, 3])
      expect(hold.isHeld).to.equal(true)
      await hold.unlock()
      await untilHeldOn([])
    }
  })

  it('A try of a RedLock is refused when others hold a quorum, although a server is silent (M8)', async () => {
    await redLock().withLock(() => {})
    for (const index of [0, 1, 2]) await foreign(index).take(60_000)
    proxies[4]!.stall()
    const took = await timed(async () =>
      expect(await redLock().tryLock({ leaseTime: 5_000 })).to.equal(false),
    )
    expect(took).to.be.lessThan(900)
    await untilHeldOn([0, 1, 2], [0, 1, 2, 3])
    proxies[4]!.resume()
    for (const index of [0, 1, 2]) await foreign(index).release()
  })

  it('A RedLock counts its quorum over all members: two of five are none (M9)', async () => {
    for (const index of [0, 1, 2]) await foreign(index).take(60_000)
    expect(await redLock().tryLock()).to.equal(false)
    expect(await redLock().tryLock(300)).to.equal(false)
    for (const index of [0, 2]) await foreign(index).release()
    const four = (await redLock().tryAcquire())!
    expect(four.holds).to.have.length(4)
    await four.unlock()
    await untilHeldOn([1])
    const two = redLock(clients.slice(0, 2))
    expect(await two.tryLock()).to.equal(false)
    // It was false as soon as member 1 had answered. A later grant of member 0 is released in the background.
    await untilHeldOn([1])
    await foreign(1).release()
    const hold = (await two.tryAcquire())!
    expect(hold.holds).to.have.length(2)
    await hold.unlock()
    const lock = clients[0]!.getLock(name)
    for (const wrong of [[], [lock, lock], [lock, clients[0]!.getLock(name)]])
      expect(() => clients[0]!.getRedLock(...wrong)).to.throw(RangeError)
    for (const wrong of ['redlock', [lock], null])
      expect(() => clients[0]!.getRedLock(wrong as never)).to.throw(TypeError)
    await untilHeldOn([])
  })

  it('Several members of a RedLock on one server print one warning (M9)', async () => {
    const warnings: string[] = []
    const note = (warning: Error & { code?: string }) => warnings.push(String(warning.code))
    process.on('warning', note)
    const twin = await createRedisson({ redis: servers[0]!.url })
    const [client] = clients
    for (let i = 0; i < 2; i++)
      client!.getRedLock(client!.getLock(name), twin.getLock(`${name}:2`), clients[1]!.getLock(name))
    redLock()
    await new Promise((resolve) => setImmediate(resolve))
    process.off('warning', note)
    expect(warnings.filter((code) => code === 'RLOCK_ONE_SERVER')).to.have.length(1)
  })

  it('Redlock’s validity: an answer too late for the lease is no grant and no held lock', async () => {
    const lock = redLock()
    await lock.withLock(() => {})
    await untilHeldOn([])
    for (const index of [2, 3, 4]) proxies[index]!.stallReplies()
    const acquiring = rejection(lock.tryLock({ leaseTime: LEASE }))
    const error = (await acquiring) as LockQuorumError
    expect(error.code).to.equal('LOCK_QUORUM')
    expect(error.members.map(({ state }) => state)).to.include.members(['held', 'unreachable'])
    for (const index of [2, 3, 4]) proxies[index]!.resume()
    await untilHeldOn([])
    // A member that answers when most of its lease is over, and says that it is not held any more.
    const late: LockHold = { ...fakeHold(), isHeld: false }
    const slow = clients[0]!.getRedLock({ tryAcquire: async () => late }, { tryAcquire: async () => late })
    const tooLate = (await rejection(slow.tryLock(0, 1_000))) as LockQuorumError
    expect(tooLate.message).to.match(/too late/)
    expect(tooLate.members.map(({ state }) => state)).to.deep.equal(['late', 'late'])
    // Members whose clocks say nothing: the lease less the drift ends it all the same.
    const mute = clients[0]!.getRedLock({ tryAcquire: async () => fakeHold() })
    const hold = (await mute.tryAcquire({ leaseTime: 300 }))!
    const started = performance.now()
    await waitUntil('it has ended', async () => hold.signal.aborted)
    expect(performance.now() - started).to.be.lessThan(2_000)
    expect(hold.isHeld).to.equal(false)
  })

  it('A held member is waited for, also with a server away and for over 10 s (V147)', async () => {
    const redisson = await createRedisson({}, { clock: new FastClock(20) })
    const away = (): Lockable => ({ tryAcquire: () => Promise.reject(new RedisUnavailableError('away')) })
    let tries = 0
    const started = performance.now()
    // 20 s of the client.
    const held: Lockable = {
      tryAcquire: async () => (tries++ && performance.now() - started > 1_000 ? fakeHold() : undefined),
    }
    const free: Lockable = { tryAcquire: async () => fakeHold() }
    const hold = await redisson.getRedLock(away(), held, free).acquire()
    await hold.unlock()
    // Nothing to wait for: the servers are away.
    const failing = performance.now()
    const error = await rejection(redisson.getRedLock(away(), away(), free).acquire())
    expect(error.code).to.equal('LOCK_QUORUM')
    expect((performance.now() - failing) * 20).to.be.greaterThan(9_000)
  })

  it('A caller that reads a quorum of the members is refused when it waits to write them (V148)', async () => {
    const side = (kind: 'readLock' | 'writeLock', of = clients) =>
      of[0]!.getRedLock(...of.map((client) => client.getReadWriteLock(name)[kind]()))
    await clients[0]!.run(async () => {
      await side('readLock').lock()
      expect((await rejection(side('writeLock').lock())).code).to.equal('ILLEGAL_MONITOR_STATE')
      expect(await side('writeLock').tryLock()).to.equal(false)
      await side('readLock').unlock()
      await side('writeLock').withLock(() => {})
    })
    // What it reads of a minority does not matter.
    await clients[0]!.run(async () => {
      const members = clients.slice(0, 2).map((client) => client.getReadWriteLock(name).readLock())
      for (const member of members) await member.lock()
      await side('writeLock').withLock(() => {})
      for (const member of members) await member.unlock()
    })
  })

  it('Errors of a RedLock are plain data: no client, no URL, no password (M11)', async () => {
    const leak: Lockable = {
      tryAcquire: () => Promise.reject(new Error(`cannot reach redis://:${PASSWORD}@10.0.0.1:6379/0 today`)),
    }
    for (const proxy of proxies) proxy.stall()
    const lock = clients[0]!.getRedLock(leak, ...clients.map((client) => client.getLock(name)))
    const error = (await rejection(lock.tryLock())) as LockQuorumError
    expect(error.code).to.equal('LOCK_QUORUM')
    const text = JSON.stringify(error)
    expect(text.length).to.be.lessThan(4_096)
    expect(text + error.message)
      .to.include('unreachable')
      .and.include('failed')
      .and.not.match(/geheim|redis:\/\//)
    for (const proxy of proxies) proxy.resume()
    await untilHeldOn([])
  })

  it('A RedLock below its quorum is lost, and says so before another can enter (M10)', async () => {
    const hold = await redLock().acquire()
    await untilHeldOn([0, 1, 2, 3, 4])
    const lost = new Promise<string>((resolve) =>
      hold.signal.addEventListener('abort', () => resolve('reported')),
    )
    for (const index of [0, 1]) proxies[index]!.stall()
    await new Promise((resolve) => setTimeout(resolve, LEASE * 0.6))
    proxies[2]!.stall()
    await waitUntil('two are lost', async () => hold.holds.filter(({ isHeld }) => !isHeld).length === 2)
    expect([hold.isHeld, hold.signal.aborted]).to.deep.equal([true, false])
    // As long as the third key lives, no other client has a quorum.
    const gone = waitUntil('it is over on the server', async () => (await redis[2]!.exists(name)) === 0)
    expect(await Promise.race([lost, gone.then(() => 'gone')])).to.equal('reported')
    expect(hold.isHeld).to.equal(false)
    const error = (await rejection(hold.unlock())) as LockLostError
    expect(error.code).to.equal('LOCK_LOST')
    expect(error.members!.filter(({ state }) => state === 'lost')).to.have.length.greaterThan(2)
    for (const proxy of proxies) proxy.resume()
    await untilHeldOn([])
  })

  it('A server that restarts empty counts; a holder without quorum knows (M10, V6)', async () => {
    const others = redLock(await connect())
    for (const index of [0, 1]) proxies[index]!.stall()
    const hold = await redLock().acquire()
    for (const index of [0, 1]) proxies[index]!.resume()
    await untilHeldOn([2, 3, 4])
    await servers[4]!.restart({ keepData: false })
    // 0, 1 and 4.
    const next = (await others.tryAcquire({ waitTime: 5_000 }))!
    expect(next.holds).to.have.length(3)
    await waitUntil('the loss is known', async () => hold.signal.aborted)
    expect(await rejection(hold.unlock())).to.include({ code: 'LOCK_LOST' })
    expect(next.isHeld).to.equal(true)
    await next.unlock()
    await untilHeldOn([])
  })

  it('Five servers: one stalled, two killed, one restarted empty', async () => {
    const lock = redLock()
    const others = redLock(await connect())
    const hold = await lock.acquire()
    await untilHeldOn([0, 1, 2, 3, 4])
    proxies[0]!.stall()
    await servers[1]!.kill()
    expect(await others.tryLock()).to.equal(false)
    await hold.unlock()
    await untilHeldOn([], [2, 3, 4])
    // Three are left, and a quorum.
    const three = (await others.tryAcquire({ waitTime: 5_000 }))!
    expect(three.holds).to.have.length(3)
    await servers[2]!.kill()
    await waitUntil('the loss is known', async () => three.signal.aborted)
    expect(await rejection(three.unlock())).to.include({ code: 'LOCK_LOST' })
    const error = (await rejection(lock.tryLock(500))) as LockQuorumError
    expect(error.code).to.equal('LOCK_QUORUM')
    expect(error.members.filter(({ state }) => state === 'unreachable')).to.have.length(3)
    await untilHeldOn([], [3, 4])
    // Empty, and the third again.
    await servers[2]!.restart({ keepData: false })
    const back = await lock.acquire()
    expect(back.holds).to.have.length(3)
    await back.unlock()
    await servers[1]!.restart()
    proxies[0]!.resume()
    await untilHeldOn([])
  })
})

function fakeHold(): LockHold {
  return {
    lockName: 'fake',
    threadId: 1,
    signal: new AbortController().signal,
    isHeld: true,
    owner: '',
    unlock: async () => {},
    async [Symbol.asyncDispose]() {},
  } as LockHold
}
