import { AsyncLocalStorage } from 'node:async_hooks'
import { channel } from 'node:diagnostics_channel'
import { expect } from 'chai'
import type { Redisson, RLock } from '../../src/index'
import { createRedisson, openRedis, rejection, uniqueName } from '../kit/clients'
import { Program } from '../kit/program'
import { sharedStandalone, waitUntil } from '../kit/servers/index'
import { type Tap, tapped } from '../kit/tapped-transport'

const CHANNELS = {
  'tracing:rlock:acquire:start': 'waits',
  'tracing:rlock:acquire:asyncEnd': 'waited',
  'tracing:rlock:hold:start': 'holds',
  'tracing:rlock:hold:error': 'failed',
  'tracing:rlock:hold:asyncEnd': 'held',
  'rlock:renew': 'renewal',
}

interface Message {
  readonly clientId: string
  readonly [field: string]: unknown
}

describe('The diagnostics of holds', () => {
  let redisson: Redisson
  let name: string
  /** In the order in which they came, each as it was then. */
  let seen: [string, Message][]
  const requests = new AsyncLocalStorage<string>()
  let contexts: [string, string | undefined][]
  const subscribed: (() => void)[] = []

  beforeEach(async () => {
    redisson = await createRedisson({ lockWatchdogTimeout: 2_400 })
    name = uniqueName('holds')
    seen = []
    contexts = []
    for (const [channelName, as] of Object.entries(CHANNELS)) {
      const note = (message: unknown) => {
        if ((message as Message).clientId !== redisson.getId()) return
        seen.push([as, { ...(message as Message) }])
        contexts.push([as, requests.getStore()])
      }
      channel(channelName).subscribe(note)
      subscribed.push(() => channel(channelName).unsubscribe(note))
    }
  })
  afterEach(() => {
    for (const unsubscribe of subscribed.splice(0)) unsubscribe()
  })

  const order = () => seen.map(([as]) => as).filter((as) => as !== 'renewal')
  const only = (as: string) => seen.filter(([each]) => each === as).map(([, message]) => message)

  const kinds: Record<string, (client: Redisson) => Pick<RLock, 'acquire'>> = {
    lock: (client) => client.getLock(name),
    fair: (client) => client.getFairLock(name),
    fenced: (client) => client.getFencedLock(name),
    'non-reentrant': (client) => client.getNonReentrantLock(name),
    'non-reentrant-fair': (client) => client.getNonReentrantFairLock(name),
    spin: (client) => client.getSpinLock(name),
    token: (client) => client.getTokenLock(name),
    read: (client) => client.getReadWriteLock(name).readLock(),
    write: (client) => client.getReadWriteLock(name).writeLock(),
  }
  for (const [kind, getLock] of Object.entries(kinds))
    it(`Diagnostics tell of wait, hold and release in order, kind ${kind}`, async () => {
      const hold = await getLock(redisson).acquire()
      await hold.unlock()
      expect(order()).to.deep.equal(['waits', 'waited', 'holds', 'held'])
      const clientId = redisson.getId()
      for (const as of ['waits', 'waited', 'holds', 'held'])
        expect(only(as)[0], as).to.include({ clientId, name, kind, key: name })
      expect(only('waited')[0]).to.include({ outcome: 'acquired', result: true })
      const [began] = only('holds')
      expect(Object.keys(began!)).to.have.members(['clientId', 'address', 'name', 'kind', 'key', 'owner'])
      const [ended] = only('held')
      expect(ended).to.deep.equal({ ...began, outcome: 'released', heldFor: ended?.heldFor })
      expect(ended?.heldFor).to.be.a('number').within(0, 60_000)
    })

  const several: Record<string, (client: Redisson, locks: RLock[]) => Pick<RLock, 'acquire'>> = {
    'multi lock': (client, locks) => client.getMultiLock(...locks),
    RedLock: (client, locks) => client.getRedLock(...locks),
  }
  for (const [kind, getLock] of Object.entries(several))
    it(`Diagnostics tell of the holds and the renewals of each member of a ${kind}`, async () => {
      const names = [1, 2, 3].map((each) => `${name}:${each}`)
      const locks = names.map((each) => redisson.getLock(each))
      const hold = await getLock(redisson, locks).acquire()
      const renewed = () => new Set(only('renewal').map((message) => message.name))
      await waitUntil('each is renewed', () => renewed().size === names.length)
      await hold.unlock()
      expect([...renewed()]).to.have.members(names)
      const acquired = only('waited').filter(({ outcome }) => outcome === 'acquired')
      expect(acquired.map((message) => message.name)).to.have.members(names)
      expect(only('holds').map((message) => message.name)).to.have.members(names)
      expect(only('held').map((message) => message.name)).to.have.members(names)
      expect(only('held').map(({ kind, outcome }) => [kind, outcome])).to.deep.equal(
        names.map(() => ['lock', 'released']),
      )
    })

  const renewing: Record<string, (client: Redisson) => Promise<unknown>> = {
    ...Object.fromEntries(
      Object.entries(kinds).map(([kind, getLock]) => [kind, (client: Redisson) => getLock(client).acquire()]),
    ),
    permit: async (client) => {
      const semaphore = client.getPermitExpirableSemaphore(name)
      await semaphore.trySetPermits(1)
      return semaphore.acquirePermit()
    },
  }
  for (const [kind, acquire] of Object.entries(renewing))
    it(`Diagnostics tell of a renewal with owner and key, kind ${kind}`, async () => {
      await acquire(redisson)
      await waitUntil('a renewal', () => only('renewal').length > 0)
      const [first] = only('renewal')
      const { clientId, address, key, owner } = only('holds')[0]!
      const { duration } = first!
      const outcome = 'renewed'
      const asked = { clientId, address, name, kind, key, owner, outcome, duration, error: undefined }
      expect(first).to.deep.equal(asked)
      expect(duration).to.be.a('number').within(0, 60_000)
    })

  it('Diagnostics tell of a permit of acquirePermit() as of a hold, and name it', async () => {
    const semaphore = redisson.getPermitExpirableSemaphore(name)
    await semaphore.trySetPermits(1)
    const permit = await semaphore.acquirePermit()
    await permit.release()
    expect(order()).to.deep.equal(['waits', 'waited', 'holds', 'held'])
    expect(only('waits')[0]).to.include({ name, kind: 'permit' })
    expect(only('held')[0]).to.include({ name, kind: 'permit', owner: permit.id, outcome: 'released' })
  })

  it('Diagnostics tell of a lost permit, with name and kind', async () => {
    const semaphore = redisson.getPermitExpirableSemaphore(name)
    await semaphore.trySetPermits(1)
    await semaphore.acquirePermit()
    await (await openRedis()).del(name, `{${name}}:timeout`)
    await waitUntil('the loss is published', () => only('held').length === 1)
    expect(only('held')[0]).to.include({ name, kind: 'permit', outcome: 'lost', reason: 'gone' })
  })

  it('Diagnostics tell of waits only for a semaphore and a latch', async () => {
    const semaphore = redisson.getSemaphore(name)
    await semaphore.trySetPermits(1)
    await semaphore.acquire()
    await semaphore.release()
    const latch = redisson.getCountDownLatch(`${name}:latch`)
    await latch.trySetCount(1)
    const open = latch.await()
    await latch.countDown()
    await open
    expect(order()).to.deep.equal(['waits', 'waited', 'waits', 'waited'])
    expect(only('waited').map(({ kind, subject, outcome }) => [kind, subject, outcome])).to.deep.equal([
      ['semaphore', `permits of the semaphore "${name}"`, 'acquired'],
      ['latch', `the latch "${name}:latch"`, 'acquired'],
    ])
  })

  it('Diagnostics tell how a hold ended: lost and why, expired, left at a shutdown', async () => {
    const lost = redisson.getLock(name)
    await lost.lock()
    await lost.forceUnlock()
    await rejection(lost.unlock())
    const [first] = only('held')
    expect(first).to.include({ outcome: 'lost', reason: 'forced' })
    expect(first?.error).to.have.property('name', 'LockLostError')
    expect(only('failed')).to.have.lengthOf(1)
    expect(order().slice(-2)).to.deep.equal(['failed', 'held'])

    await redisson.getLock(`${name}:2`).acquire({ leaseTime: 50 })
    await waitUntil('the lease has run out', () => only('held').length === 2)
    expect(only('held')[1]).to.include({ outcome: 'expired' }).and.not.have.property('reason')

    await redisson.getLock(`${name}:3`).acquire()
    await redisson.shutdown({ timeout: 0 })
    expect(only('held')[2]).to.include({ outcome: 'shutdown' })
    expect(only('held')).to.have.lengthOf(only('holds').length)
  })

  for (const kind of ['lock', 'permit'])
    it(`Diagnostics end the hold of a ${kind} as lost that its release finds gone`, async () => {
      const semaphore = redisson.getPermitExpirableSemaphore(name)
      if (kind === 'permit') await semaphore.trySetPermits(1)
      const hold =
        kind === 'permit' ? await semaphore.acquirePermit() : await redisson.getLock(name).acquire()
      await (await openRedis()).del(name, `{${name}}:timeout`)
      const error = await rejection('release' in hold ? hold.release() : hold.unlock())
      const [ended] = only('held')
      expect(only('held')).to.have.lengthOf(1)
      expect(ended).to.include({ outcome: 'lost', reason: 'gone' })
      expect(ended?.error).to.have.property('message', error.message)
      expect(only('failed')).to.have.lengthOf(1)
    })

  it('Diagnostics tell of each renewal, and of one that found the hold gone', async () => {
    await redisson.getLock(name).lock()
    await waitUntil('two renewals', () => only('renewal').length === 2)
    await (await openRedis()).del(name)
    await waitUntil('the loss', () => only('held').length === 1)
    expect(only('renewal').at(-1)).to.include({ outcome: 'gone' })
  })

  it('Diagnostics tell of renewals that failed or are overdue, one by one', async () => {
    const outcomes = () => only('renewal').map(({ outcome }) => outcome)
    const troubles = [
      () => Promise.reject(new Error('NOPERM no right to EVALSHA')),
      () => waitUntil('the renewal is overdue', () => outcomes().includes('overdue')),
    ]
    const tap: Tap = ({ name: script, pass }) => {
      const trouble = script === 'lock/renew' ? troubles.shift() : undefined
      return trouble ? trouble().then(pass) : pass()
    }
    redisson = await createRedisson({ lockWatchdogTimeout: 1_200 }, { transport: tapped(tap) })
    await redisson.getLock(name).lock()
    await waitUntil('a renewal succeeds', () => outcomes().includes('renewed'))
    expect(outcomes().slice(0, 3)).to.deep.equal(['failed', 'overdue', 'renewed'])
    const [failed, overdue] = only('renewal')
    expect(failed?.error).to.have.property('name', 'RedisRefusedError')
    expect(overdue?.error).to.have.property('message').that.contains('did not renew the lease')
  })

  it('Without a subscriber the diagnostics allocate nothing', async () => {
    const { url } = await sharedStandalone()
    const measured = async (...more: string[]): Promise<{ publishing: number; all: number }> =>
      JSON.parse(await new Program('diagnostics-allocations.ts', url, uniqueName('bytes'), ...more).line())
    const without = await measured()
    expect(without.publishing).to.equal(0)
    expect(without.all).to.be.greaterThan(1_000)
    expect((await measured('subscribed')).publishing).to.be.greaterThan(500)
  })

  it('A subscriber that throws harms no lock: a process that handles uncaught exceptions goes on', async () => {
    const program = new Program('throwing-subscriber.ts', (await sharedStandalone()).url, name, 'handles')
    const { results, thrown } = JSON.parse(await program.line())
    expect(results).to.deep.equal([false, null, true, false, 0, 0])
    expect(thrown).to.include.members(['bindStore', 'rlock:renew'])
    expect(thrown).to.include.members(['tracing:rlock:acquire:start', 'tracing:rlock:hold:asyncEnd'])
    expect(await program.exit).to.equal(0)
  })

  it('A subscriber that throws ends a process that handles no uncaught exceptions, as Node does', async () => {
    const program = new Program('throwing-subscriber.ts', (await sharedStandalone()).url, name)
    expect(await program.exit).to.not.equal(0)
  })

  it('The end of a permit is told with its signal aborted, and release() says why (V142)', async () => {
    const semaphore = redisson.getPermitExpirableSemaphore(name)
    await semaphore.trySetPermits(1)
    const permit = await semaphore.acquirePermit({ leaseTime: 100 })
    const { signal } = permit
    let told: { aborted: boolean; error: Promise<Error> } | undefined
    const look = () => {
      told = { aborted: signal.aborted, error: rejection(permit.release()) }
    }
    channel('tracing:rlock:hold:asyncEnd').subscribe(look)
    subscribed.push(() => channel('tracing:rlock:hold:asyncEnd').unsubscribe(look))
    await waitUntil('its end is told', () => told !== undefined)
    expect(told!.aborted).to.equal(true)
    expect((await told!.error).name).to.equal('PermitNotHeldError')
  })

  it("Diagnostics come in the caller's async context, also of a loss; renewals in none", async () => {
    await requests.run('request', () => redisson.getLock(name).lock())
    await waitUntil('a renewal', () => only('renewal').length > 0)
    await (await openRedis()).del(name)
    await waitUntil('the loss', () => only('held').length === 1)
    const of = (as: string) => new Set(contexts.filter(([each]) => each === as).map(([, context]) => context))
    expect([...of('holds'), ...of('held')]).to.deep.equal(['request', 'request'])
    expect([...of('renewal')]).to.deep.equal([undefined])
  })
})
