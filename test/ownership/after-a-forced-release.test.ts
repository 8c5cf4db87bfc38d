import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import type { Redisson, RLock } from '../../src/index'
import type { ScriptTransport } from '../../src/scripts/transport'
import { closeAll, createRedisson, openRedis, rejection, uniqueName } from '../kit/clients'
import { closeProxies, openProxy } from '../kit/proxies'
import { sharedStandalone, waitUntil } from '../kit/servers/index'
import { latch, tapped } from '../kit/tapped-transport'

type Lock = Pick<RLock, 'lock' | 'unlock' | 'tryAcquire' | 'acquire'>
type Kind = (redisson: Redisson, name: string) => Lock

const KINDS: Record<string, Kind> = {
  'a plain lock': (redisson, name) => redisson.getLock(name),
  'a fair lock': (redisson, name) => redisson.getFairLock(name),
  'a fenced lock': (redisson, name) => redisson.getFencedLock(name),
  'a non-reentrant lock': (redisson, name) => redisson.getNonReentrantLock(name),
  'a spin lock': (redisson, name) => redisson.getSpinLock(name),
  'a token lock': (redisson, name) => redisson.getTokenLock(name),
  'a write lock': (redisson, name) => redisson.getReadWriteLock(name).writeLock(),
  'a multi lock': (redisson, name) =>
    redisson.getMultiLock(redisson.getLock(name), redisson.getLock(`${name}:2`)),
}

/** The keys go without a message, so only the next grant can show that the hold before it is gone. */
for (const [kind, make] of Object.entries(KINDS))
  describe(`The next holder of ${kind} whose key was deleted`, () => {
    afterEach(closeAll)

    async function deleted(name: string) {
      const redis = await openRedis()
      await redis.del(name, `${name}:2`)
    }

    it(`keeps it when the caller before calls its unlock() through the same object of ${kind} (V133)`, async () => {
      const [own, other] = [await createRedisson(), await createRedisson()]
      const name = uniqueName('forced')
      const lock = make(own, name)
      const lost: string[] = []
      own.on('lockLost', ({ reason }) => lost.push(reason))
      await lock.lock()
      await deleted(name)
      await lock.lock(20_000)
      expect(lost).to.include('gone')
      expect((await rejection(lock.unlock())).code).to.equal('LOCK_LOST')
      expect(await make(other, name).tryAcquire()).to.equal(undefined)
      await lock.unlock()
      await (await make(other, name).tryAcquire())!.unlock()
    })

    it(`is alone: the hold before it in the same client has ended, also a LockHold of ${kind} (V133)`, async () => {
      const own = await createRedisson()
      const name = uniqueName('forced')
      const before = await make(own, name).acquire()
      await deleted(name)
      const next = await make(own, name).acquire()
      expect([before.isHeld, before.signal.aborted, next.isHeld]).to.deep.equal([false, true, true])
      await next.unlock()
    })
  })

describe('A listener that calls unlock()', () => {
  afterEach(closeAll)

  it('while unlock() of another caller looks for what has ended, ends its own level and no other one (V135)', async () => {
    const redisson = await createRedisson({ lockWatchdogTimeout: 1_500 })
    const redis = await openRedis()
    const lock = redisson.getReadWriteLock(uniqueName('listener')).readLock()
    const ended: Promise<unknown>[] = []
    redisson.on('lockLost', () => ended.push(rejection(lock.unlock())))
    await lock.lock()
    await sleep(900)
    await lock.lock()
    // The deadline of the first one passes, and no timer can notice it: the look of unlock() does.
    for (const until = performance.now() + 1_100; performance.now() < until; );
    await lock.unlock()
    await waitUntil('the listener has called', () => ended.length > 0)
    await Promise.all(ended)
    expect(await redis.exists(lock.getName())).to.equal(0)
  })
})

const SHARED: Record<string, Kind> = {
  'a read lock': (redisson, name) => redisson.getReadWriteLock(name).readLock(),
  'a multi lock of read locks': (redisson, name) =>
    redisson.getMultiLock(...[name, `${name}:2`].map((each) => redisson.getReadWriteLock(each).readLock())),
}

for (const [kind, make] of Object.entries(SHARED))
  describe(`The next reader of ${kind} whose key was deleted`, () => {
    afterEach(async () => {
      await closeAll()
      await closeProxies()
    })

    it(`keeps it also when the reply to its lock() of ${kind} was lost (V143)`, async () => {
      const server = await sharedStandalone()
      const proxy = await openProxy(server)
      const [own, other] = [
        await createRedisson({ redis: `redis://127.0.0.1:${proxy.port}` }),
        await createRedisson({ redis: server.url }),
      ]
      const name = uniqueName('forced')
      const lock = make(own, name)
      const writer = other.getReadWriteLock(name).writeLock()
      await lock.lock(20_000)
      await (await openRedis()).del(name, `${name}:2`)
      const lost = proxy.dropNextReply((words) => words.includes(name))
      await lock.lock(10_000)
      await lost
      expect((await rejection(lock.unlock())).code).to.equal('LOCK_LOST')
      expect(await writer.tryAcquire()).to.equal(undefined)
      await lock.unlock()
      await (await writer.tryAcquire())!.unlock()
    })

    it(`keeps it when the reader before calls its unlock() through the same object of ${kind} (V140)`, async () => {
      const [own, other] = [await createRedisson(), await createRedisson()]
      const name = uniqueName('forced')
      const lock = make(own, name)
      const writer = other.getReadWriteLock(name).writeLock()
      await lock.lock(20_000)
      await (await openRedis()).del(name, `${name}:2`)
      await lock.lock(10_000)
      expect((await rejection(lock.unlock())).code).to.equal('LOCK_LOST')
      expect(await writer.tryAcquire()).to.equal(undefined)
      await lock.unlock()
      await (await writer.tryAcquire())!.unlock()
    })
  })

describe('A reader whose lock() was aborted after the key of the readers before it was deleted', () => {
  afterEach(closeAll)

  it('shows all the same that those have ended, so no unlock() of theirs frees the next reader (V158)', async () => {
    const [aborted, answered] = [new AbortController(), latch()]
    let acquisitions = 0
    const transport = tapped(async (sent) => {
      const answer = await sent.pass()
      if (sent.name !== 'read-lock/acquire' || ++acquisitions !== 2) return answer
      aborted.abort(new Error('enough'))
      await answered.opened
      return answer
    })
    const own = await createRedisson({}, { transport })
    const lock = own.getReadWriteLock(uniqueName('forced')).readLock()
    await lock.lock(20_000)
    await (await openRedis()).del(lock.getName())
    expect((await rejection(lock.lock({ signal: aborted.signal }))).message).to.equal('enough')
    answered.open()
    await lock.lock(10_000)
    expect((await rejection(lock.unlock())).code).to.equal('LOCK_LOST')
    expect(await (await createRedisson()).getReadWriteLock(lock.getName()).writeLock().tryLock()).to.equal(
      false,
    )
    await lock.unlock()
  })
})

describe('The next holder that asks in the moment of the grant before it', () => {
  afterEach(closeAll)

  for (const [kind, script, make] of [
    ['a plain lock', 'lock/acquire', (redisson: Redisson, name: string) => redisson.getLock(name)],
    [
      'a read lock',
      'read-lock/acquire',
      (redisson: Redisson, name: string) => redisson.getReadWriteLock(name).readLock(),
    ],
  ] as const)
    it(`keeps ${kind}, although the key was deleted meanwhile and the caller before calls its unlock() (V159)`, async () => {
      const redis = await openRedis()
      let acquisitions = 0
      const transport = tapped(async (sent) => {
        if (sent.name === script && !sent.bySource && ++acquisitions === 2) await redis.del(sent.keys[0]!)
        return await sent.pass()
      })
      const own = await createRedisson({}, { transport })
      await make(own, uniqueName('loads the script')).tryLock()
      acquisitions = 0
      const lock = make(own, uniqueName('forced'))
      await lock.lock(20_000)
      await lock.lock(10_000)
      expect((await rejection(lock.unlock())).code).to.equal('LOCK_LOST')
      const other = await createRedisson()
      expect(
        await other
          .getReadWriteLock(lock.getName())
          .writeLock()
          .tryLock()
          .catch(() => false),
      ).to.equal(false)
      expect(await redis.exists(lock.getName())).to.equal(1)
      await lock.unlock()
    })
})

describe('The next holder whose request was in flight beside the one before it', () => {
  afterEach(closeAll)

  for (const [kind, script, make] of [
    ['a fair lock', 'fair-lock/acquire', (redisson: Redisson, name: string) => redisson.getFairLock(name)],
    [
      'a read lock',
      'read-lock/acquire',
      (redisson: Redisson, name: string) => redisson.getReadWriteLock(name).readLock(),
    ],
  ] as const)
    it(`keeps ${kind}, although the key was deleted between both and the caller before calls its unlock() (V161)`, async () => {
      const redis = await openRedis()
      const [firstApplied, secondApplied] = [latch(), latch()]
      let acquisitions = 0
      const transport = tapped(async (sent) => {
        if (sent.name !== script || sent.bySource) return await sent.pass()
        acquisitions++
        if (acquisitions === 1) {
          const answer = await sent.pass()
          firstApplied.open()
          await secondApplied.opened
          return answer
        }
        if (acquisitions !== 2) return await sent.pass()
        await firstApplied.opened
        await redis.del(sent.keys[0]!)
        const answer = await sent.pass()
        secondApplied.open()
        // The answers come in the order of the requests.
        await sleep(20)
        return answer
      })
      const own = await createRedisson({}, { transport })
      acquisitions = 10
      await make(own, uniqueName('loads the script')).tryLock()
      acquisitions = 0
      const lock = make(own, uniqueName('forced'))
      expect(await Promise.all([lock.tryLock(0, 20_000), lock.tryLock(0, 10_000)])).to.deep.equal([
        true,
        true,
      ])
      expect((await rejection(lock.unlock())).code).to.equal('LOCK_LOST')
      expect(await redis.exists(lock.getName())).to.equal(1)
      await lock.unlock()
      expect(await redis.exists(lock.getName())).to.equal(0)
    })
})

describe('A reader whose reply was lost, with another reader before its second copy', () => {
  afterEach(closeAll)

  it('shows all the same that the readers before it have ended (V173)', async () => {
    const [applied, behind] = [latch(), latch()]
    let acquisitions = 0
    let owner: unknown
    const transport = tapped(async (sent) => {
      if (sent.name !== 'read-lock/acquire' || sent.bySource) return await sent.pass()
      if (++acquisitions === 2) {
        owner = sent.args[0]
        await sent.pass()
        applied.open()
        throw new Error('Connection is closed.')
      }
      if (sent.args[0] === owner) await behind.opened
      return await sent.pass()
    })
    const own = await createRedisson({}, { transport })
    const lost: string[] = []
    own.on('lockLost', ({ reason }) => lost.push(reason))
    const lock = own.getReadWriteLock(uniqueName('forced')).readLock()
    acquisitions = 10
    await own.getReadWriteLock(uniqueName('loads the script')).readLock().tryLock()
    acquisitions = 0
    await lock.lock()
    await (await openRedis()).del(lock.getName())
    const second = lock.lock(10_000)
    await applied.opened
    expect(await lock.tryLock(0, 15_000)).to.equal(true)
    behind.open()
    await second
    await waitUntil('the first reader is told', () => lost.length > 0, 5_000)
    expect(lost).to.deep.equal(['gone'])
  })
})

const ENOUGH = Object.assign(new Error('enough'), { code: 'ENOUGH' })

describe('A reader that no replica acknowledges, with another reader before its next try', () => {
  afterEach(closeAll)

  for (const leaves of ['fails after its third try', 'is aborted during its second try'] as const)
    it(`shows that the readers before it have ended, although it ${leaves} (V176)`, async () => {
      const redis = await openRedis()
      const behind = latch()
      let hasReplicas = false
      let tries = 0
      const abort = new AbortController()
      const transport = (to: ScriptTransport): ScriptTransport => ({
        ...tapped((sent) => sent.pass())(to),
        mayHaveReplicas: () => hasReplicas,
        get state() {
          return to.state
        },
        async sendAcknowledged(call, bySource) {
          const value = await new Promise((resolve, reject) => to.send(call, bySource, resolve, reject))
          if (++tries === 2 && leaves === 'is aborted during its second try') abort.abort(ENOUGH)
          await behind.opened
          return { value, acknowledged: false }
        },
      })
      const own = await createRedisson({}, { transport })
      const lost: string[] = []
      own.on('lockLost', ({ reason }) => lost.push(reason))
      const lock = own.getReadWriteLock(uniqueName('forced')).readLock()
      await lock.lock()
      await redis.del(lock.getName())
      hasReplicas = true
      const alone = lock.lock({ leaseTime: 10_000, signal: abort.signal }).catch((error) => error.code)
      await waitUntil('it is granted', async () => (await redis.exists(lock.getName())) === 1)
      hasReplicas = false
      expect(await lock.tryLock(0, 15_000)).to.equal(true)
      hasReplicas = true
      behind.open()
      expect(await alone).to.equal(
        leaves === 'fails after its third try' ? 'LOCK_NOT_REPLICATED' : ENOUGH.code,
      )
      await waitUntil('the first reader is told', () => lost.length > 0, 5_000)
      expect(lost).to.deep.equal(['gone'])
    })
})

describe('A reader that never has its lock, with another reader before the client gives it back', () => {
  afterEach(closeAll)

  for (const what of [
    'was aborted, and its answer came after its lease',
    'was aborted while its late grant was confirmed',
    'got no answer',
  ] as const)
    it(`shows that the readers before it have ended, although it ${what} (V176)`, async () => {
      const redis = await openRedis()
      const [applied, behind] = [latch(), latch()]
      let acquisitions = 0
      let owner: unknown
      const abort = new AbortController()
      const transport = tapped(async (sent) => {
        if (sent.name === 'read-lock/reenter') abort.abort(ENOUGH)
        if (sent.name !== 'read-lock/acquire' || sent.bySource) return await sent.pass()
        if (++acquisitions === 2) owner = sent.args[0]
        const answer = await sent.pass()
        if (sent.args[0] !== owner) return answer
        applied.open()
        if (what === 'got no answer') throw new Error('Connection is closed.')
        await behind.opened
        return answer
      })
      const own = await createRedisson({}, { transport, unavailableAfter: 300 })
      const lost: string[] = []
      own.on('lockLost', ({ reason }) => lost.push(reason))
      const lock = own.getReadWriteLock(uniqueName('forced')).readLock()
      acquisitions = 10
      await own.getReadWriteLock(uniqueName('loads the script')).readLock().tryLock()
      acquisitions = 0
      await lock.lock()
      await redis.del(lock.getName())
      const alone = rejection(lock.lock({ leaseTime: 200, signal: abort.signal }))
      await applied.opened
      expect(await lock.tryLock(0, 15_000)).to.equal(true)
      if (what === 'was aborted, and its answer came after its lease') abort.abort(ENOUGH)
      await sleep(250)
      behind.open()
      expect((await alone).code).to.equal(what === 'got no answer' ? 'REDIS_UNAVAILABLE' : ENOUGH.code)
      await waitUntil('the first reader is told', () => lost.length > 0, 5_000)
      expect(lost).to.deep.equal(['gone'])
    })
})

describe('The write hold of a client whose key was deleted', () => {
  afterEach(closeAll)

  it('ends when a read of this client finds no key (V140)', async () => {
    const own = await createRedisson()
    const lock = own.getReadWriteLock(uniqueName('forced'))
    const write = await lock.writeLock().acquire()
    await (await openRedis()).del(write.lockName)
    const read = await lock.readLock().acquire()
    expect([write.isHeld, read.isHeld]).to.deep.equal([false, true])
    await read.unlock()
  })
})
