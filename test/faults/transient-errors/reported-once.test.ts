import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { OutageReporter } from '../../../src/redis/reports/outage-reporter'
import { createRedisson, openRedis, uniqueName } from '../../kit/clients'
import { ForeignLock } from '../../kit/foreign-lock'
import { eventsOf } from '../../kit/observing'
import { openProxy } from '../../kit/proxies'
import { sharedStandalone, waitUntil } from '../../kit/servers/index'
import { VirtualClock } from '../../kit/virtual-clock'
import { readonly } from './standalone'

/** After this long without trouble, the next is another outage. */
const QUIET = 5_200

describe('An outage is reported once, and the next one again', () => {
  it('An outage by a transient error is reported once', async () => {
    const trouble = await readonly()
    try {
      const redisson = await createRedisson({ redis: trouble.source })
      const errors = eventsOf(redisson, 'error')
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

  it('An outage of the connection is reported once, also while no command is sent', async () => {
    const proxy = await openProxy(await sharedStandalone())
    const redisson = await createRedisson({ redis: proxy.url })
    const errors = eventsOf(redisson, 'error')
    for (let outage = 1; outage <= 2; outage++) {
      proxy.breakOff()
      await waitUntil('it is reported', () => errors.length === outage)
      // Time for several more attempts to connect.
      await sleep(1_500)
      await proxy.accept()
      await waitUntil('it is back', () => proxy.connections >= 2)
      expect(errors).to.have.length(outage)
      if (outage === 1) await sleep(QUIET)
    }
  })

  it('A refused subscription is reported once, also if the client requests it many times', async () => {
    const redis = await openRedis()
    const user = `deaf${process.pid}`
    await redis.call('ACL', 'SETUSER', user, 'on', '>secret', '~*', '&*', '+@all', '-subscribe')
    try {
      const { host, port } = await sharedStandalone()
      const redisson = await createRedisson({ redis: `redis://${user}:secret@${host}:${port}` })
      const errors = eventsOf(redisson, 'error')
      const foreign = new ForeignLock(redis, uniqueName())
      await foreign.take(60_000)
      expect(await redisson.getLock(foreign.name).tryLock(3_500)).to.equal(false)
      expect(errors).to.have.length(1)
    } finally {
      await redis.call('ACL', 'DELUSER', user)
    }
  })
})

describe('When an outage is over', () => {
  let clock: VirtualClock
  let reported: string[]
  let outages: OutageReporter

  beforeEach(() => {
    clock = new VirtualClock()
    reported = []
    outages = new OutageReporter(clock, {
      error: ({ message }) => reported.push(message),
      began: () => reported.push('unavailable'),
      ended: (lasted) => reported.push(`available after ${lasted}`),
    })
  })

  const meets = (message: string, after: number) => {
    clock.advance(after)
    outages.failed(new Error(message))
  }

  it('An outage is not over before the first command is answered, also after a long time', () => {
    for (let each = 0; each < 3; each++) meets('READONLY', 60_000)
    expect(reported).to.deep.equal(['unavailable', 'READONLY'])
  })

  it('An outage lasts while errors go on between answers, as with one failing node', () => {
    for (let each = 0; each < 10; each++) {
      meets('CLUSTERDOWN', 1_000)
      outages.answered()
    }
    expect(reported).to.deep.equal(['unavailable', 'CLUSTERDOWN'])
  })

  it('An outage is over once a command was answered and no error followed', () => {
    meets('BUSY', 0)
    outages.answered()
    meets('LOADING', 5_000)
    expect(reported).to.deep.equal(['unavailable', 'BUSY', 'available after 0', 'unavailable', 'LOADING'])
  })

  it('An outage is over once the client is connected again, unless the server itself refused', () => {
    meets('connect ECONNREFUSED', 0)
    outages.connected()
    meets('READONLY', 5_000)
    outages.connected()
    meets('READONLY', 5_000)
    expect(reported).to.deep.equal([
      'unavailable',
      'connect ECONNREFUSED',
      'available after 0',
      'unavailable',
      'READONLY',
    ])
  })

  it('A second kind of trouble in one outage is reported, once', () => {
    meets('NOREPLICAS Not enough good replicas to write', 0)
    meets('connect ECONNREFUSED', 1_000)
    meets('LOADING', 1_000)
    meets('NOREPLICAS Not enough good replicas to write', 1_000)
    expect(reported).to.deep.equal([
      'unavailable',
      'NOREPLICAS Not enough good replicas to write',
      'connect ECONNREFUSED',
    ])
    outages.answered()
    clock.advance(4_999)
    expect(reported).to.have.length(3)
    clock.advance(1)
    expect(reported.slice(3)).to.deep.equal(['available after 3000'])
  })

  it('An outage that goes on is not reported as over', () => {
    meets('CLUSTERDOWN', 0)
    outages.answered()
    meets('CLUSTERDOWN', 4_000)
    clock.advance(60_000)
    expect(reported).to.deep.equal(['unavailable', 'CLUSTERDOWN'])
  })
})
