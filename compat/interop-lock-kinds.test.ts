import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { expect } from 'chai'
import type { Redisson, RLock } from '../src/index'
import { rejection, timed, uniqueName } from '../test/kit/clients'
import { runCallers } from '../test/kit/contention/callers'
import {
  describeWithJava,
  type JavaPeer,
  type JavaThread,
  type LockType,
  startJavaPeer,
} from '../test/kit/java'
import { waitUntil } from '../test/kit/servers/index'
import { channelOf, setUpWorld, untilWaiting, type World } from './support/world'

const LEASE = 60_000
const PROMPTLY = 5_000
const SHORT_LEASE = 2_000

/** Kinds of lock that are one lock under one name, in both languages. */
const KINDS: readonly LockType[] = ['lock', 'nonReentrant', 'spin', 'fenced']

function ours(redisson: Redisson, type: LockType, name: string): RLock {
  if (type === 'nonReentrant') return redisson.getNonReentrantLock(name)
  if (type === 'spin') return redisson.getSpinLock(name)
  if (type === 'fenced') return redisson.getFencedLock(name)
  return redisson.getLock(name)
}

describeWithJava('Java and Node on one non-reentrant, spin or fenced lock', () => {
  const world = setUpWorld('4.7.0')
  let a: JavaThread
  let redisson: Redisson
  let name: string

  before(() => {
    a = world.Java.thread('a')
    redisson = world.Node.redisson
  })
  beforeEach(() => {
    name = uniqueName('kinds')
  })

  const waits = () => untilWaiting(world.redis, channelOf(name))

  describe('One name, several kinds', () => {
    kindsTests(world)
    otherKindsTests(world)
  })

  it('Java and ours refuse a second lock() of a non-reentrant lock, whichever kind took it', async () => {
    const type = 'nonReentrant'
    for (const held of ['nonReentrant', 'lock'] as const) {
      await a.lock(name, { type: held })
      for (const again of [
        a.lock(name, { type }),
        a.tryLock(name, { type }),
        a.tryLock(name, { type, waitTime: 100 }),
      ]) {
        const error = await rejection(again)
        expect(error).to.have.property('javaClass', 'java.lang.IllegalMonitorStateException')
        expect(error.message).to.contain('non-reentrant')
      }
      expect(await a.getHoldCount(name)).to.equal(1)
      await a.unlock(name, { type: held })
      await redisson.run(async () => {
        await ours(redisson, held, name).lock()
        expect((await rejection(redisson.getNonReentrantLock(name).lock())).code).to.equal(
          'ILLEGAL_MONITOR_STATE',
        )
        await ours(redisson, held, name).unlock()
      })
    }
    // The plain lock re-enters what the other took.
    await a.lock(name, { type })
    await a.lock(name)
    expect(await a.getHoldCount(name)).to.equal(2)
    await a.unlock(name)
    await a.unlock(name, { type })
  })

  it('A silent release of a Java SpinLock: our spin lock enters at once, plain later (N3)', async () => {
    await a.lock(name, { type: 'spin' })
    const spinning = redisson.getSpinLock(name).acquire()
    await sleep(200)
    await a.unlock(name, { type: 'spin' })
    expect(await timed(async () => (await spinning).unlock())).to.be.lessThan(PROMPTLY)

    await a.lock(name, { type: 'spin', leaseTime: 2_000, object: 'leased' })
    const began = performance.now()
    const sleeping = redisson.getLock(name).acquire()
    await waits()
    await a.unlock(name, { type: 'spin', object: 'leased' })
    await (await sleeping).unlock()
    expect(performance.now() - began, 'no message woke it').to.be.within(1_500, PROMPTLY)
  })

  it('A release of our spin lock wakes a plain waiter in Java, and a SpinLock finds it (N3)', async () => {
    const hold = await redisson.getSpinLock(name).acquire({ leaseTime: LEASE })
    const waiting = a.lock(name)
    await waits()
    await hold.unlock()
    await waiting
    await a.unlock(name)
    const again = await redisson.getSpinLock(name).acquire({ leaseTime: LEASE })
    const spinning = a.lock(name, { type: 'spin' })
    await sleep(200)
    await again.unlock()
    await spinning
    await a.unlock(name, { type: 'spin' })
  })

  it('A failed try of a Java SpinLock leaves its lease on the object; ours does not (J22)', async () => {
    const hold = await redisson.getLock(name).acquire()
    const type = 'spin'
    expect(await a.tryLock(name, { type, waitTime: 0, leaseTime: 5_000 })).to.equal(false)
    const lock = redisson.getSpinLock(name)
    expect(await lock.tryLock(0, 5_000)).to.equal(false)
    await hold.unlock()
    await a.lock(name, { type })
    expect(await world.redis.pttl(name)).to.be.at.most(5_000)
    await a.unlock(name, { type })
    await lock.lock()
    expect(await world.redis.pttl(name)).to.be.above(25_000)
    await lock.unlock()
  })

  for (const type of ['spin', 'nonReentrant'] as const)
    it(`Callers of Node and Java lose no update under one ${type} lock (guarantee 1)`, async () => {
      const counterKey = uniqueName('counter')
      const [java, node] = await Promise.all([
        world.Java.contend(name, { type, threads: 3, sections: 150, counterKey }),
        runCallers(ours(redisson, type, name), world.redis, counterKey, { callers: 3, sectionsEach: 50 }),
      ])
      expect(java.errors).to.deep.equal([])
      expect([java.sections, node.sections]).to.deep.equal([150, 150])
      expect(await world.redis.get(counterKey)).to.equal('300')
    })

  it('Java takes a fenced hold without expiry for its own token -1; ours waits (J4, F6)', async () => {
    await redisson.getFencedLock(name).lock({ threadId: 1 })
    await world.redis.persist(name)
    expect(await a.lockAndGetToken(name)).to.equal(-1)
    expect(await redisson.getFencedLock(name).tryLockAndGetToken(100)).to.equal(undefined)
    await redisson.getFencedLock(name).unlock({ threadId: 1 })
  })

  it('tryLockAndGetToken() without a wait waits in Java, and is one try here (J5, pinned)', async () => {
    const hold = await redisson.getFencedLock(name).acquire()
    expect(await redisson.getFencedLock(name).tryLockAndGetToken()).to.equal(undefined)
    let answered = false
    const theirs = a.tryLockAndGetToken(name).finally(() => {
      answered = true
    })
    await sleep(500)
    expect(answered).to.equal(false)
    await hold.unlock()
    expect(await theirs).to.equal(2)
    await a.unlock(name, { type: 'fenced' })
  })

  it('lockAndGetToken() with a lease is renewed in Java, and keeps its lease here (J5, pinned)', async () => {
    await a.lockAndGetToken(name, { leaseTime: 5_000 })
    expect(await world.redis.pttl(name)).to.be.above(25_000)
    await a.unlock(name, { type: 'fenced' })
    const lock = redisson.getFencedLock(name)
    await lock.lockAndGetToken(5_000)
    expect(await world.redis.pttl(name)).to.be.at.most(5_000)
    await lock.unlock()
  })

  it('Tokens of a fenced lock rise strictly over four processes, two of them Java (F1)', async () => {
    const log = uniqueName('tokens')
    const each = 25
    const url = world.server.url
    await using second: JavaPeer = await startJavaPeer({ redis: url, version: '4.7.0' })
    const java = async (peer: JavaPeer) => {
      const thread = peer.thread('tokens')
      for (let turn = 0; turn < each; turn++) {
        const token = await thread.lockAndGetToken(name)
        await world.redis.rpush(log, `${token} ${peer.clientId}`)
        await thread.unlock(name, { type: 'fenced' })
      }
    }
    const node = () =>
      promisify(execFile)(process.execPath, [
        '--import',
        'tsx',
        join(__dirname, 'support/token-drawer-main.ts'),
        url,
        name,
        log,
        String(each),
      ])
    await Promise.all([java(world.Java), java(second), node(), node()])
    const entries = (await world.redis.lrange(log, 0, -1)).map((entry) => entry.split(' '))
    expect(entries.map(([token]) => Number(token))).to.deep.equal(
      Array.from({ length: 4 * each }, (_, index) => index + 1),
    )
    expect(new Set(entries.map(([, client]) => client)).size).to.equal(4)
  })
})

/** The rows of PROTOCOL-MORE's table that are about these kinds. */
function kindsTests(world: World): void {
  for (const held of KINDS)
    for (const asked of KINDS)
      it(`What is held as ${held} keeps ${asked} out, and wakes it, in both directions`, async () => {
        const name = uniqueName('pair')
        const java = world.Java.thread('pairs')
        const { redisson } = world.Node
        await java.lock(name, { type: held })
        expect(await ours(redisson, asked, name).tryLock()).to.equal(false)
        const quiet = held === 'spin' && asked !== 'spin'
        const waiting = ours(redisson, asked, name).acquire()
        await untilWaiting(world.redis, channelOf(name))
        await java.unlock(name, { type: held })
        // A Java SpinLock publishes nothing: a test above pins what that costs.
        if (quiet) await world.redis.publish(channelOf(name), '0')
        await (await waiting).unlock()

        const hold = await ours(redisson, held, name).acquire()
        expect(await java.tryLock(name, { type: asked })).to.equal(false)
        const theirs = java.lock(name, { type: asked })
        if (asked === 'spin') await sleep(100)
        else await untilWaiting(world.redis, channelOf(name))
        await hold.unlock()
        expect(await timed(() => theirs)).to.be.lessThan(PROMPTLY)
        await java.unlock(name, { type: asked })
        await waitUntil('it is free', async () => (await world.redis.exists(name)) === 0)
      })
}

/** What docs/migration/java-redisson.md says of other kinds beside our `getLock`. */
function otherKindsTests(world: World): void {
  it('A member of a multi lock of Java is a plain lock to ours, in both directions', async () => {
    const names = [uniqueName(), uniqueName()]
    const [java, lock] = [world.Java.thread('multi'), world.Node.redisson.getLock(names[0]!)]
    await java.lock(names.join(), { type: 'multi' })
    expect(await lock.tryLock()).to.equal(false)
    const waiting = lock.acquire()
    await untilWaiting(world.redis, channelOf(names[0]!))
    await java.unlock(names.join(), { type: 'multi' })
    const hold = await waiting
    expect(await java.tryLock(names.join(), { type: 'multi' })).to.equal(false)
    await hold.unlock()
  })

  it('A fair lock of Java and our getLock() wake each other only when the lease they saw ends', async () => {
    const name = uniqueName()
    const [java, lock] = [world.Java.thread('fair'), world.Node.redisson.getLock(name)]
    await java.lock(name, { type: 'fair', leaseTime: SHORT_LEASE })
    const waiting = timed(() => lock.acquire({ leaseTime: SHORT_LEASE }))
    await untilWaiting(world.redis, channelOf(name))
    await java.unlock(name, { type: 'fair' })
    expect(await waiting).to.be.within(SHORT_LEASE - 500, PROMPTLY)
    const theirs = timed(() => java.lock(name, { type: 'fair' }))
    await sleep(300)
    await lock.forceUnlock()
    expect(await theirs).to.be.within(SHORT_LEASE - 1_500, PROMPTLY)
    await java.unlock(name, { type: 'fair' })
  })

  it('getMultiLock(group, values) of Java does not meet our getLock(): WrongTypeError here', async () => {
    const name = uniqueName()
    const [java, lock] = [world.Java.thread('group'), world.Node.redisson.getLock(name)]
    await java.lock(name, { type: 'group' })
    expect(await rejection(lock.tryLock())).to.have.property('code', 'WRONG_TYPE')
    await java.unlock(name, { type: 'group' })
    const hold = await lock.acquire()
    await java.lock(name, { type: 'group' })
    expect(hold.isHeld).to.equal(true)
    await world.redis.del(name)
  })
}
