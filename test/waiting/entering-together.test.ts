import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import type { Redisson } from '../../src/index'
import { createRedisson, openRedis, uniqueName } from '../kit/clients'
import { openProxy } from '../kit/proxies'
import { asleep } from '../kit/sleepers'
import { defaultServer } from '../kit/stand-in'
import { tapped, withReplicas } from '../kit/tapped-transport'

const CALLERS = 1_000
const ROUND_TRIPS = 10
/** Each way, in ms. */
const DELAY = 50

/** An object that many may enter, free for all callers. */
interface Shared {
  readonly name: string
  readonly script: string
  /** Resolves with what enters. */
  open(redisson: Redisson, name: string): Promise<(waitTime: number) => Promise<unknown>>
}

const SHARED: readonly Shared[] = [
  {
    name: 'read lock',
    script: 'read-lock/acquire',
    open: async (redisson, name) => {
      const lock = redisson.getReadWriteLock(name).readLock()
      return (waitTime) => lock.tryAcquire({ waitTime })
    },
  },
  {
    name: 'semaphore',
    script: 'semaphore/acquire',
    open: async (redisson, name) => {
      const semaphore = redisson.getSemaphore(name)
      await semaphore.trySetPermits(CALLERS)
      return (waitTime) => semaphore.tryAcquire({ waitTime })
    },
  },
  {
    name: 'semaphore of expirable permits',
    script: 'permit-expirable-semaphore/acquire',
    open: async (redisson, name) => {
      const semaphore = redisson.getPermitExpirableSemaphore(name)
      await semaphore.trySetPermits(CALLERS)
      return (waitTime) => semaphore.tryAcquire({ permits: 1, waitTime })
    },
  },
]

describe('Objects that many callers of one process may enter together', () => {
  /** Counts the round trips of a script: those that are in flight together are one. */
  class RoundTrips {
    count = 0
    most = 0
    private inFlight = 0

    constructor(private readonly script: string) {}

    readonly transport = tapped(async (sent) => {
      if (sent.name !== this.script) return await sent.pass()
      if (this.inFlight++ === 0) this.count++
      this.most = Math.max(this.most, this.inFlight)
      try {
        return await sent.pass()
      } finally {
        this.inFlight--
      }
    })
  }

  for (const shared of SHARED) {
    it(`A thousand callers enter a free ${shared.name} within ten round trips (guarantee 3)`, async () => {
      const trips = new RoundTrips(shared.script)
      const enter = await shared.open(
        await createRedisson({}, { transport: trips.transport }),
        uniqueName('together'),
      )
      const entered = await Promise.all(Array.from({ length: CALLERS }, () => enter(60_000)))
      expect(entered.filter(Boolean)).to.have.length(CALLERS)
      expect(trips.count).to.be.at.most(ROUND_TRIPS)
      expect(trips.most).to.be.at.most(CALLERS / 4)
    })

    it(`Each caller of a ${shared.name} learns in time that its wait is over (A7)`, async () => {
      const proxy = await openProxy(await defaultServer())
      const redisson = await createRedisson({ redis: proxy.url })
      const enter = await shared.open(redisson, uniqueName('in-time'))
      proxy.delay(DELAY)
      // The first answer comes before that, and those of the next ones after it.
      const ends = await Promise.allSettled(Array.from({ length: CALLERS }, () => enter(3 * DELAY)))
      expect(ends.filter(({ status }) => status === 'rejected')).to.deep.equal([])
      const entered = ends.filter((end) => end.status === 'fulfilled' && end.value)
      expect(entered.length).to.be.within(2, CALLERS - 1)
    })
  }

  it('Permits are asked for as many as are free, and not for more (guarantee 3)', async () => {
    const trips = new RoundTrips('semaphore/acquire')
    const redisson = await createRedisson({}, { transport: trips.transport })
    const semaphore = redisson.getSemaphore(uniqueName('together'))
    await semaphore.trySetPermits(8)
    const inside: Promise<void>[] = Array.from({ length: 64 }, () => semaphore.acquire())
    await Promise.all(inside.slice(0, 8))
    expect([trips.count, trips.most]).to.deep.equal([2, 7])
    await semaphore.addPermits(56)
    await Promise.all(inside)
  })

  for (const kind of ['getSemaphore', 'getPermitExpirableSemaphore'] as const)
    it(`${kind}: one of two grants that no replica has is asked for again at once (V207)`, async () => {
      const name = uniqueName('unacknowledged')
      const isExpirable = kind === 'getPermitExpirableSemaphore'
      const other = (await createRedisson())[kind](name)
      let grants = 0
      let taking: Promise<unknown> | undefined
      const transport = withReplicas(async (send, script) => {
        const isAcquire = script.endsWith('semaphore/acquire')
        // One of the two permits that are free goes to another process before the two tries come.
        if (isAcquire && grants === 1) {
          taking ??= other.acquire()
          await taking
        }
        const value = await send()
        const isGranted = isAcquire && (Array.isArray(value) ? value[0] === 1 : Number(value) >= 0)
        return { value, acknowledged: !isGranted || ++grants !== 2 }
      })
      const redisson = await createRedisson({}, { transport })
      const semaphore = redisson[kind](name)
      await semaphore.trySetPermits(3)
      const taken = await Promise.all([other.acquire(), other.acquire(), other.acquire()])
      const waits = [semaphore.acquire(), semaphore.acquire(), semaphore.acquire()]
      await asleep(redisson, `${isExpirable ? 'permit' : 'semaphore'} ${name}`, 3)
      const release: (given: never) => Promise<void> = other.release.bind(other)
      await release((isExpirable ? taken : 3) as never)
      const second = Promise.race([waits[1], sleep(5_000, 'it sleeps', { ref: false })])
      expect(await second).to.not.equal('it sleeps')
      expect(grants).to.equal(3)
    })

  it('A large request is served in its turn, although smaller ones would fit', async () => {
    const redis = await openRedis()
    const redisson = await createRedisson()
    const semaphore = redisson.getSemaphore(uniqueName('in-turn'))
    await semaphore.trySetPermits(4)
    const order: number[] = []
    const inside = [1, 2, 3, 1].map((permits) => semaphore.acquire(permits).then(() => order.push(permits)))
    await Promise.all(inside.slice(0, 2))
    await redis.ping()
    expect(order).to.deep.equal([1, 2])
    await semaphore.addPermits(3)
    await Promise.all(inside)
    expect(order).to.deep.equal([1, 2, 3, 1])
  })
})
