import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { Outages } from '../../src/connection/outages'
import { VirtualClock } from '../read-write/model/virtual-clock'
import { sharedStandalone, waitUntil } from '../servers'
import { closeAll, createRedisson, openRedis, uniqueName } from '../support/clients'
import { ForeignLock } from '../support/foreign-lock'
import { closeProxies, openProxy } from '../support/proxies'
import { readonly } from './standalone'

/** After this long without trouble, the next is another outage. */
const QUIET = 5_200

describe('an outage is told once, and the next one again', () => {
  afterEach(async () => {
    await closeAll()
    await closeProxies()
  })

  it('of a server that declines', async () => {
    const trouble = await readonly()
    try {
      const redisson = await createRedisson({ redis: trouble.source })
      const errors: Error[] = []
      redisson.on('error', (error) => errors.push(error))
      for (let outage = 1; outage <= 2; outage++) {
        await trouble.begin()
        const locking = Array.from({ length: 5 }, () => redisson.getLock(trouble.newName()).lock())
        await sleep(1_200)
        await trouble.end()
        await Promise.all(locking)
        expect(errors).to.have.length(outage)
        expect(errors.at(-1)!.message).to.contain('READONLY')
        if (outage === 1) await sleep(QUIET)
      }
    } finally {
      await trouble.stop()
    }
  })

  it('of the way to it, also while nothing is asked of it', async () => {
    const proxy = await openProxy(await sharedStandalone())
    const redisson = await createRedisson({ redis: proxy.url })
    const errors: Error[] = []
    redisson.on('error', (error) => errors.push(error))
    for (let outage = 1; outage <= 2; outage++) {
      proxy.refuse()
      proxy.cut()
      await waitUntil('it is told', () => errors.length === outage)
      // Time for several more attempts to connect.
      await sleep(1_500)
      await proxy.accept()
      await waitUntil('it is back', () => proxy.connections >= 2)
      expect(errors).to.have.length(outage)
      if (outage === 1) await sleep(QUIET)
    }
  })

  it('of a subscription that is refused, however often it is asked for', async () => {
    const redis = await openRedis()
    const user = `deaf${process.pid}`
    await redis.call('ACL', 'SETUSER', user, 'on', '>secret', '~*', '&*', '+@all', '-subscribe')
    try {
      const { host, port } = await sharedStandalone()
      const redisson = await createRedisson({ redis: `redis://${user}:secret@${host}:${port}` })
      const errors: Error[] = []
      redisson.on('error', (error) => errors.push(error))
      const foreign = new ForeignLock(redis, uniqueName())
      await foreign.take(60_000)
      expect(await redisson.getLock(foreign.name).tryLock(3_500)).to.equal(false)
      expect(errors).to.have.length(1)
    } finally {
      await redis.call('ACL', 'DELUSER', user)
    }
  })
})

describe('when an outage is over', () => {
  let clock: VirtualClock
  let told: string[]
  let outages: Outages

  beforeEach(() => {
    clock = new VirtualClock()
    told = []
    outages = new Outages(clock, ({ message }) => told.push(message))
  })

  const meets = (message: string, after: number) => {
    clock.advance(after)
    outages.met(new Error(message))
  }

  it('not while nothing has been answered, however long that takes', () => {
    for (let each = 0; each < 3; each++) meets('READONLY', 60_000)
    expect(told).to.deep.equal(['READONLY'])
  })

  it('not while trouble goes on beside answers, as where one node of a cluster fails', () => {
    for (let each = 0; each < 10; each++) {
      meets('CLUSTERDOWN', 1_000)
      outages.answered()
    }
    expect(told).to.deep.equal(['CLUSTERDOWN'])
  })

  it('once something was answered, and it was quiet', () => {
    meets('BUSY', 0)
    outages.answered()
    meets('LOADING', 5_000)
    expect(told).to.deep.equal(['BUSY', 'LOADING'])
  })

  it('once connected again, but not where the server itself declined', () => {
    meets('connect ECONNREFUSED', 0)
    outages.connected()
    meets('READONLY', 5_000)
    outages.connected()
    meets('READONLY', 5_000)
    expect(told).to.deep.equal(['connect ECONNREFUSED', 'READONLY'])
  })
})
