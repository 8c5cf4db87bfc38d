import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import calculateSlot from 'cluster-key-slot'
import type { LockHold, Redisson, RLock } from '../../../src/index'
import { createRedisson, rejection, timed, uniqueName } from '../../kit/clients'
import { internalsOf } from '../../kit/internals'
import { readTimeoutKey } from '../../kit/read-write/state'
import { ownCluster, waitUntil, withClient } from '../../kit/servers/index'
import { tapped } from '../../kit/tapped-transport'
import { prepareCalls } from './calls'
import { nodesOf } from './cluster'
import { stateOf } from './preparation'

describe('A slot that migrates (D6)', () => {
  const setup = ownCluster()
  let redisson: Redisson
  let errors: string[]
  let name: string

  beforeEach(async () => {
    redisson = await createRedisson({ redis: nodesOf(setup) })
    errors = []
    redisson.on('error', ({ message }) => errors.push(message))
    name = uniqueName()
  })

  const ownerIndex = async () => setup.nodes.indexOf(await setup.ownerOf(calculateSlot(name)))
  const command = (node: number, ...words: string[]) =>
    withClient(setup.nodes[node]!, (client) => client.call('CLUSTER', ...words))
  const idOf = async (node: number) => (await command(node, 'MYID')) as string

  /** Begins to move the slot and moves no key of it; the returned function does the rest. */
  async function beginMoving(): Promise<() => Promise<void>> {
    const [slot, source] = [calculateSlot(name), await ownerIndex()]
    const target = (source + 1) % 3
    await command(target, 'SETSLOT', String(slot), 'IMPORTING', await idOf(source))
    await command(source, 'SETSLOT', String(slot), 'MIGRATING', await idOf(target))
    return () => setup.migrateSlot(slot, target)
  }

  /** Looks at what the node has to which the slot has come. */
  async function lookAtOwner() {
    const owner = await setup.ownerOf(calculateSlot(name))
    return (each: string) => withClient(owner, (client) => stateOf(client, each))
  }

  /** Another client reads, so that some keys of a second reader are there and some are not: TRYAGAIN. */
  async function readByAnother() {
    const other = await createRedisson({ redis: nodesOf(setup) })
    return { other, theirs: await other.getReadWriteLock(name).readLock().acquire() }
  }

  /** The reader is dead: its read timeout key has run out, so no node has it, and one that is giving the slot away says so. */
  async function dies(of: Redisson, { threadId }: LockHold) {
    const owner = await setup.ownerOf(calculateSlot(name))
    await withClient(owner, (client) => client.del(readTimeoutKey(name, `${of.getId()}:${threadId}`, 1)))
  }

  it('TRYAGAIN: acquisitions and re-entries succeed after the migration, one error', async () => {
    const { theirs } = await readByAnother()
    const lock = redisson.getReadWriteLock(name).readLock()
    const who = { threadId: 1 }
    await lock.lock(who)
    const settle = await beginMoving()
    const calls = [lock.lock(who), lock.lock(), lock.tryLock(20_000), lock.withLock(() => 'done')]
    await sleep(2_500)
    await settle()
    expect(await Promise.all(calls)).to.deep.equal([undefined, undefined, true, 'done'])
    await Promise.all([lock.unlock(who), lock.unlock(), lock.unlock(), theirs.unlock()])
    await lock.unlock(who)
    expect(await lock.isLocked()).to.equal(false)
    expect(errors).to.have.length(1)
    expect(errors[0]).to.match(/TRYAGAIN|ASK|MOVED/)
  })

  it('TRYAGAIN: a call with a shorter wait, or with none, is answered in time', async () => {
    await readByAnother()
    const lock = redisson.getReadWriteLock(name).readLock()
    const settle = await beginMoving()
    const [waited, tried] = await Promise.all([
      timed(() => rejection(lock.tryLock(400))),
      // Of another process: a single try does not get past those who wait here.
      timed(async () => {
        const other = await createRedisson({ redis: nodesOf(setup) })
        return await rejection(other.getReadWriteLock(name).readLock().tryLock())
      }),
    ])
    await settle()
    expect(waited).to.be.within(399, 3_400)
    expect(tried).to.be.within(0, 4_000)
  })

  it('TRYAGAIN: releases succeed while the slot migrates or once it has', async () => {
    const { other, theirs } = await readByAnother()
    const lock = redisson.getReadWriteLock(name).readLock()
    for (const threadId of [1, 2, 2]) await lock.lock({ threadId })
    await dies(other, theirs)
    const settle = await beginMoving()
    const unlocking = [lock.unlock({ threadId: 1 }), lock.unlock({ threadId: 2 })]
    for (const each of unlocking) each.catch(() => {})
    await sleep(500)
    await settle()
    await Promise.all(unlocking)
    expect(await lock.isHeldByThread(1)).to.equal(false)
    expect(await lock.isHeldByThread(2)).to.equal(true)
    await lock.unlock({ threadId: 2 })
    expect(await lock.isLocked()).to.equal(false)
  })

  for (const what of ['another reader releases', 'a writer steps down'] as const)
    it(`A reader whose timeout key migrates later keeps its hold: ${what} (D6)`, async () => {
      const lock = redisson.getReadWriteLock(name)
      const [slot, source] = [calculateSlot(name), await ownerIndex()]
      const target = (source + 1) % 3
      const { reading, leaving } = await redisson.run(async () => {
        const writing = what === 'a writer steps down' ? await lock.writeLock().acquire() : undefined
        const reading = await lock.readLock().acquire()
        return { reading, leaving: writing ?? (await readByAnother()).theirs }
      })
      await beginMoving()
      const { host, port } = setup.nodes[target]!
      // As tools do that move a few keys at a time.
      await withClient(setup.nodes[source]!, (client) => client.migrate(host, port, name, 0, 5_000))
      const releasing = leaving.unlock()
      releasing.catch(() => {})
      await sleep(500)
      await setup.migrateSlot(slot, target)
      await releasing
      const other = await createRedisson({ redis: nodesOf(setup) })
      expect(await other.getReadWriteLock(name).writeLock().tryLock()).to.equal(false)
      expect(reading.isHeld).to.equal(true)
      await reading.unlock()
    })

  for (const [what, weRead, release] of [
    ['the last living reader releases', true, (_: RLock, ours: LockHold) => ours.unlock()],
    ['a dead reader is forced out', false, (lock: RLock) => lock.forceUnlock()],
  ] as const)
    it(`A script that fails half-way leaves nothing half done: ${what} (D6)`, async () => {
      const { other, theirs } = await readByAnother()
      const lock = redisson.getReadWriteLock(name).readLock()
      const ours = await lock.acquire()
      if (!weRead) await ours.unlock()
      await dies(other, theirs)
      const settle = await beginMoving()
      const releasing = release(lock, ours)
      await sleep(300)
      await settle()
      await releasing
      const owner = await setup.ownerOf(calculateSlot(name))
      expect(await withClient(owner, (client) => client.hgetall(name))).to.deep.equal({})
    })

  it('TRYAGAIN: all calls of all objects succeed after the migration, one error', async () => {
    let names = 0
    // Of the same slot: a latch takes no braces.
    const newName = (what: string) => {
      if (!/latch/.test(what)) return `{${name}}${names++}`
      for (;;) if (calculateSlot(`latch${++names}`) === calculateSlot(name)) return `latch${names}`
    }
    const make = await prepareCalls(redisson, newName)
    const settle = await beginMoving()
    const calls = make()
    await sleep(300)
    await settle()
    const state = await lookAtOwner()
    for (const [what, { answer, expected, name: each, left }] of calls) {
      expect(await answer, what).to.equal(expected)
      expect(await state(each), what).to.deep.equal(left)
    }
    expect(errors.length).to.be.at.most(1)
  })

  it('A script that fails half-way takes no permit: one expires meanwhile (D6, P3)', async () => {
    const permits = redisson.getPermitExpirableSemaphore(name)
    await permits.trySetPermits(5)
    const id = await permits.acquire()
    // Expired, so that the set of those in use is empty in the middle of the script.
    const owner = await setup.ownerOf(calculateSlot(name))
    await withClient(owner, (client) => client.zadd(`{${name}}:timeout`, 1, Buffer.from(id, 'hex')))
    const settle = await beginMoving()
    const acquiring = permits.acquire({ permits: 2, leaseTime: 60_000 })
    acquiring.catch(() => {})
    await sleep(300)
    await settle()
    expect(await acquiring).to.have.length(2)
    expect(await (await lookAtOwner())(name)).to.deep.equal(['3', '2 out'])
  })

  it('A script that fails half-way gives every permit back that was given up (D6, S2)', async () => {
    const abort = new AbortController()
    let settle = async () => {}
    const transport = tapped(async (sent) => {
      const reply = await sent.pass()
      if (sent.name !== 'semaphore/acquire') return reply
      settle = await beginMoving()
      abort.abort(new Error('given up'))
      return reply
    })
    const giving = await createRedisson({ redis: nodesOf(setup) }, { transport })
    const semaphore = giving.getSemaphore(name)
    await semaphore.trySetPermits(5)
    // The record keeps this request alone.
    await withClient(await setup.ownerOf(calculateSlot(name)), (client) =>
      client.del(`rlock_requests:{${name}}:${giving.getId()}`),
    )
    const error = await rejection(semaphore.acquire({ permits: 2, signal: abort.signal }))
    expect(error.message).to.equal('given up')
    await sleep(300)
    await settle()
    await waitUntil('it is taken back', () => internalsOf(giving).orphans.size === 0, 10_000)
    expect(await (await lookAtOwner())(name)).to.deep.equal(['5'])
  })

  it('MOVED storm: every call succeeds as the slot goes back and forth, one error at most', async () => {
    let storm = true
    let moves = 0
    const blowing = (async () => {
      while (storm) {
        await setup.migrateSlot(calculateSlot(name), ((await ownerIndex()) + 1) % 3)
        moves++
        // Nodes that still hear of the last move must not believe it over the next.
        await sleep(250)
      }
    })()
    try {
      const plain = redisson.getLock(`{${name}}:plain`)
      const rw = redisson.getReadWriteLock(name)
      const others = [
        redisson.getFairLock(`{${name}}:fair`),
        redisson.getFencedLock(`{${name}}:fenced`),
        redisson.getTokenLock(`{${name}}:token`),
      ]
      const semaphore = redisson.getSemaphore(`{${name}}:semaphore`)
      const permits = redisson.getPermitExpirableSemaphore(`{${name}}:permits`)
      await Promise.all([semaphore.trySetPermits(5), permits.trySetPermits(5)])
      const until = performance.now() + 6_000
      let rounds = 0
      while (performance.now() < until) {
        expect(await plain.withLock(() => 'done')).to.equal('done')
        expect(await rw.writeLock().tryLock(20_000)).to.equal(true)
        await rw.writeLock().unlock()
        const reading = await rw.readLock().acquire()
        expect(await rw.readLock().isLocked()).to.equal(true)
        await reading.unlock()
        expect(await plain.tryLock(20_000)).to.equal(true)
        expect(await plain.forceUnlock()).to.equal(true)
        await rejection(plain.unlock())
        await Promise.all([
          ...others.map((lock) => lock.withLock(() => {})),
          semaphore.withPermits(() => {}, { permits: 2 }),
          permits.withPermit(() => {}),
        ])
        rounds++
      }
      expect(await semaphore.availablePermits()).to.equal(5)
      expect([await permits.availablePermits(), await permits.acquiredPermits()]).to.deep.equal([5, 0])
      expect(rounds).to.be.greaterThan(1)
    } finally {
      storm = false
      await blowing
    }
    expect(moves).to.be.greaterThan(3)
    expect(errors.length).to.be.at.most(1)
  })
})
