import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import type { Redisson } from '../../src/index'
import { createRedisson, rejection, timed, uniqueName } from '../kit/clients'
import { freshName, name } from '../kit/each-test'
import { internalsOf } from '../kit/internals'
import { JumpingClock } from '../kit/jumping-clock'
import { openProxy } from '../kit/proxies'
import { type Standalone, sharedStandalone, startStandalone, waitUntil } from '../kit/servers/index'
import { tapped } from '../kit/tapped-transport'

/** Fails if two callers are inside. */
function exclusiveSection(): () => Promise<void> {
  let inside = 0
  return async () => {
    expect(++inside).to.equal(1)
    await sleep(10)
    inside--
  }
}

describe('A RedLock for which many callers of one process wait', () => {
  freshName()
  let servers: Standalone[]
  before(async () => {
    servers = await Promise.all([0, 1, 2].map(() => startStandalone()))
  })
  after(async () => {
    await Promise.all((servers ?? []).map((server) => server.stop()))
  })

  it('They wait for the same member at the same time, whenever they came (V180)', async () => {
    const connect = () => Promise.all(servers.map(({ url }) => createRedisson({ redis: url })))
    const over = (clients: Redisson[]) =>
      clients[0]!.getRedLock(...clients.map((client) => client.getLock(name)))
    const holder = over(await connect())
    const clients = await connect()
    const lock = over(clients)
    await holder.lock()
    let inside = 0
    const callers = Array.from({ length: 30 }, async (_, index) => {
      await sleep(index * 97)
      await lock.withLock(() => inside++)
    })
    await sleep(4_000)
    let spread = 0
    for (let look = 0; look < 60; look++) {
      await sleep(50)
      const waitedFor = clients.filter((client) => [...internalsOf(client).queues.waiting()].length > 0)
      if (waitedFor.length === 3) spread++
    }
    await holder.unlock()
    await Promise.all(callers)
    expect(inside).to.equal(30)
    // A wait lasts for a second at most, and so does a turn. More than two members at once is for a timer that is late.
    // With a turn of its own for each caller nearly every look finds three.
    expect(spread).to.be.below(40)
  })

  it('They go on one after the other where a RedLock of two fair members needs both (V203)', async () => {
    const urls = servers.slice(1).map(({ url }) => url)
    const transport = tapped(async (sent) => {
      await sleep(10)
      const answer = await sent.pass()
      await sleep(10)
      return answer
    })
    const processes = await Promise.all(
      [1, 2].map(() => Promise.all(urls.map((redis) => createRedisson({ redis }, { transport })))),
    )
    const section = exclusiveSection()
    const callers = processes.flatMap((clients) =>
      Array.from({ length: 8 }, async () => {
        const lock = clients[0]!.getRedLock(...clients.map((client) => client.getFairLock(name)))
        for (let times = 0; times < 3; times++) await lock.withLock(section)
      }),
    )
    expect(await timed(() => Promise.all(callers))).to.be.below(30_000)
  })

  it('They go on one after the other while a server is away (V191)', async () => {
    const away = await startStandalone()
    const urls = [servers[0]!.url, servers[1]!.url, away.url]
    const processes = await Promise.all(
      [1, 2].map(() => Promise.all(urls.map((redis) => createRedisson({ redis })))),
    )
    for (const client of processes.flat()) client.on('error', () => {})
    await away.stop()
    await waitUntil('all have noticed', () =>
      processes.every((clients) => internalsOf(clients[2]!).scripts.isServerAway),
    )
    const section = exclusiveSection()
    const locks = processes.map((clients) =>
      clients[0]!.getRedLock(...clients.map((client) => client.getLock(name))),
    )
    const callers = locks.flatMap((lock) => Array.from({ length: 10 }, () => lock.withLock(section)))
    // A second for each would be what the silence of one server costs.
    expect(await timed(() => Promise.all(callers))).to.be.below(15_000)
  })
})

describe('A multi lock or a RedLock that many callers want while too few servers answer', () => {
  for (const kind of ['multi lock', 'RedLock'])
    it(`Each caller of a ${kind} is told so, although others hold the member (V204)`, async () => {
      const proxy = await openProxy(await sharedStandalone())
      const clock = new JumpingClock()
      const redisson = await createRedisson({}, { clock })
      const away = await createRedisson({ redis: proxy.url }, { clock })
      away.on('error', () => {})
      const name = uniqueName('away')
      const locks = [redisson.getLock(name), away.getLock(`${name}:away`)]
      const lock = kind === 'multi lock' ? redisson.getMultiLock(...locks) : redisson.getRedLock(...locks)
      const code = kind === 'multi lock' ? 'REDIS_UNAVAILABLE' : 'LOCK_QUORUM'
      proxy.breakOff()
      await waitUntil('the server is known to be away', () => internalsOf(away).scripts.isServerAway)
      const taken = await (await createRedisson()).getLock(name).acquire()
      const trying = lock.tryLock(2_000, 30_000)
      if (kind === 'RedLock') expect(await trying, 'others hold too many').to.equal(false)
      else expect((await rejection(trying)).code).to.equal(code)
      await taken.unlock()
      const callers = Array.from({ length: 4 }, () => rejection(lock.lock(30_000)))
      await sleep(3_000)
      clock.stood = 11_000
      for (const error of await Promise.all(callers)) expect(error.code).to.equal(code)
      expect(await redisson.getLock(name).isLocked()).to.equal(false)
    })
})
