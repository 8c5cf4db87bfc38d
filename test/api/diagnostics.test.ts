import { AsyncLocalStorage } from 'node:async_hooks'
import { channel, tracingChannel } from 'node:diagnostics_channel'
import { inspect } from 'node:util'
import { expect } from 'chai'
import { RateType, type Redisson } from '../../src/index'
import { createRedisson, openRedis, rejection, uniqueName } from '../kit/clients'
import { keptBy } from '../kit/left-in'
import { waitUntil } from '../kit/servers/index'

const PARTS = ['start', 'end', 'asyncStart', 'asyncEnd', 'error'] as const

interface Message {
  readonly clientId: string
  readonly [field: string]: unknown
}

describe('The diagnostics channels', () => {
  let redisson: Redisson
  let name: string
  /** In the order in which they came, each as it was then. */
  let seen: [string, Message][]
  const subscribed: (() => void)[] = []

  beforeEach(async () => {
    redisson = await createRedisson()
    name = uniqueName('diagnostics')
    seen = []
    for (const part of PARTS) subscribe(`tracing:rlock:acquire:${part}`, part)
    subscribe('tracing:rlock:hold:asyncEnd', 'held')
  })
  afterEach(() => {
    for (const unsubscribe of subscribed.splice(0)) unsubscribe()
  })

  function subscribe(channelName: string, as: string) {
    const note = (message: unknown) => {
      const { clientId } = message as Message
      if (clientId === redisson.getId()) seen.push([as, { ...(message as Message) }])
    }
    channel(channelName).subscribe(note)
    subscribed.push(() => channel(channelName).unsubscribe(note))
  }

  const order = () => seen.map(([as]) => as)
  const only = (as: string) => seen.filter(([each]) => each === as).map(([, message]) => message)

  it('Diagnostics tell of an acquisition before the caller goes on, and of its release', async () => {
    const lock = redisson.getLock(name)
    await lock.lock()
    expect(order()).to.deep.equal(['start', 'end', 'asyncStart', 'asyncEnd'])
    const clientId = redisson.getId()
    const address = only('start')[0]?.address
    expect(address).to.match(/:\d+\/0$/)
    const subject = `the lock "${name}"`
    const asked = { clientId, address, name, kind: 'lock', subject, key: name, waitTime: undefined }
    expect(only('start')).to.deep.equal([asked])
    const [ended] = only('asyncEnd')
    expect(ended).to.deep.equal({ ...asked, result: true, outcome: 'acquired', duration: ended?.duration })
    expect(ended?.duration).to.be.a('number').within(0, 60_000)
    await lock.unlock()
    const [released] = only('held')
    expect(released).to.include({ clientId, name, kind: 'lock', key: name, outcome: 'released' })
    expect(released?.owner).to.match(new RegExp(`^${clientId}:\\d+$`))
    expect(released?.heldFor).to.be.a('number').within(0, 60_000)
    expect(only('held')).to.have.lengthOf(1)
  })

  it("A subscriber of a hold's end finds nothing of the lock left in its client (V145)", async () => {
    const live: number[] = []
    const look = () => live.push(keptBy(redisson).live)
    channel('tracing:rlock:hold:asyncEnd').subscribe(look)
    subscribed.push(() => channel('tracing:rlock:hold:asyncEnd').unsubscribe(look))
    await redisson.getLock(name).withLock(() => {})
    expect(live).to.deep.equal([0])
  })

  it('Diagnostics tell of a wait that was too short, and of one that was aborted', async () => {
    const hold = await (await createRedisson()).getLock(name).acquire()
    expect(await redisson.getLock(name).tryAcquire({ waitTime: 20 })).to.equal(undefined)
    const [tooShort] = only('asyncEnd')
    expect(tooShort).to.include({ result: false, outcome: 'timeout' })
    expect(tooShort?.waitTime).to.be.a('number').within(1, 20)
    expect(only('error')).to.deep.equal([])

    const controller = new AbortController()
    const waiting = rejection(redisson.getLock(name).acquire({ signal: controller.signal }))
    controller.abort(new Error('no longer wanted'))
    const error = await waiting
    expect(only('error').map((message) => message.error)).to.deep.equal([error])
    expect(only('asyncEnd')[1]).to.include({ error, outcome: 'aborted' }).and.not.have.property('result')
    expect(order().slice(-3)).to.deep.equal(['error', 'asyncStart', 'asyncEnd'])
    await hold.unlock()
  })

  it('Diagnostics tell of what a rate limiter refuses as an error (V211)', async () => {
    const limiter = redisson.getRateLimiter(name)
    const notSet = await rejection(limiter.acquire())
    await limiter.trySetRate(RateType.OVERALL, 1, 1_000)
    const tooMany = await rejection(limiter.tryAcquire(2))
    expect(only('error').map(({ error }) => error)).to.deep.equal([notSet, tooMany])
    expect(only('asyncEnd').map(({ outcome }) => outcome)).to.deep.equal(['error', 'error'])
    await limiter.delete()
  })

  it('Diagnostics tell of a branch that enters below its ancestor as acquired (V213)', async () => {
    const elsewhere = await (await createRedisson()).getLock(name).acquire()
    const lock = redisson.getLock(name)
    await redisson.run(async () => {
      const own = lock.lock()
      const branch = redisson
        .getLock(uniqueName('another'))
        .withLock(async () => await lock.withLock(() => {}))
      await waitUntil('both wait', () => redisson.waiters().length === 2)
      await elsewhere.unlock()
      await own
      await branch
      await lock.unlock()
    })
    // The parent, the other lock, and the wait of the branch; its re-entry has no messages.
    const ends = only('asyncEnd').map(({ outcome }) => outcome)
    expect(ends).to.deep.equal(['acquired', 'acquired', 'acquired'])
  })

  it('Diagnostics have nothing of a re-entry, and of the release of the last level only', async () => {
    const lock = redisson.getLock(name)
    await redisson.run(async () => {
      await lock.lock()
      await lock.lock()
      await lock.unlock()
      expect(only('held')).to.deep.equal([])
      await lock.unlock()
    })
    expect(only('start')).to.have.lengthOf(1)
    expect(only('held')).to.have.lengthOf(1)
  })

  it('Diagnostics do not contain the token of a token lock', async () => {
    const lock = redisson.getTokenLock(name)
    const hold = await lock.acquire()
    const token = await (await openRedis()).get(name)
    expect(token).to.be.a('string').with.lengthOf.greaterThan(10)
    await hold.unlock()
    await lock.acquire()
    await lock.forceUnlock()
    await waitUntil('the loss is published', () => only('held').length === 2)
    expect(order()).to.include.members(['start', 'asyncEnd', 'held'])
    expect(inspect(seen, { depth: 10, showHidden: true })).to.not.contain(token)
  })

  it("Diagnostics come in the caller's async context, and may bind a store of their own", async () => {
    const requests = new AsyncLocalStorage<string>()
    const contexts: (string | undefined)[] = []
    const spans = new AsyncLocalStorage<unknown>()
    const { start, asyncEnd } = tracingChannel('rlock:acquire')
    const note = () => contexts.push(requests.getStore())
    start.subscribe(note)
    asyncEnd.subscribe(note)
    start.bindStore(spans)
    subscribed.push(() => {
      start.unsubscribe(note)
      asyncEnd.unsubscribe(note)
      start.unbindStore(spans)
    })
    await requests.run('request', async () => {
      await redisson.getLock(name).lock()
      expect(spans.getStore()).to.equal(undefined)
    })
    expect(contexts).to.deep.equal(['request', 'request'])
  })

  const waited: Record<string, (options: { signal: AbortSignal; waitTime: number }) => Promise<unknown>> = {
    'a lock': (options) => redisson.getLock(name).tryAcquire(options),
    permits: (options) => redisson.getSemaphore(name).tryAcquire({ permits: 1, ...options }),
    'a permit that expires': (options) =>
      redisson.getPermitExpirableSemaphore(name).tryAcquirePermit(options),
  }
  for (const [what, acquire] of Object.entries(waited))
    it(`A signal that a subscriber of the start aborts ends the wait for ${what} (V130)`, async () => {
      const other = await createRedisson()
      if (what === 'a lock') await other.getLock(name).lock()
      else await other.getSemaphore(name).trySetPermits(0)
      const controller = new AbortController()
      const { start } = tracingChannel('rlock:acquire')
      const abort = () => controller.abort(new Error('aborted in start'))
      start.subscribe(abort)
      subscribed.push(() => start.unsubscribe(abort))
      const error = await rejection(acquire({ signal: controller.signal, waitTime: 1_500 }))
      expect(error).to.equal(controller.signal.reason)
      expect(only('asyncEnd')).to.have.lengthOf(1)
      expect(only('asyncEnd')[0]).to.include({ error, outcome: 'aborted' })
    })

  it('Diagnostics are published no more after the last unsubscribe', async () => {
    for (const unsubscribe of subscribed.splice(0)) unsubscribe()
    await redisson.getLock(name).withLock(() => {})
    expect(seen).to.deep.equal([])
  })
})
