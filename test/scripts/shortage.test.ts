import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import type { Redis } from 'ioredis'
import { RedisUnavailableError } from '../../src/index'
import { script } from '../../src/scripts/script'
import { createRedisson, openRedis, rejection, timed, uniqueName } from '../kit/clients'
import { name, redis, redisAndName } from '../kit/each-test'
import { ForeignLock } from '../kit/foreign-lock'
import { errorMessagesOf, eventsOf } from '../kit/observing'
import { look, readTimeoutKey } from '../kit/read-write/state'
import { ownServer, waitUntil } from '../kit/servers/index'

/** For a loaded machine. */
const SLACK = 4_000

type Switch = (redis: Redis, on: boolean) => Promise<unknown>

const SHORTAGES: Record<string, Switch> = {
  OOM: (redis, on) => redis.config('SET', 'maxmemory', on ? 1 : 0),
  NOREPLICAS: (redis, on) => redis.config('SET', 'min-replicas-to-write', on ? 1 : 0),
  // No snapshot can be saved under the name that the server was given.
  MISCONF: (redis, on) => redis.config('SET', 'stop-writes-on-bgsave-error', on ? 'yes' : 'no'),
}

describe('A server that is short of memory, disk or replicas', () => {
  const server = ownServer({
    appendonly: true,
    config: ['save 1000000 1000000', `dbfilename ${'x'.repeat(300)}`, 'stop-writes-on-bgsave-error no'],
  })

  redisAndName('test', { server })
  afterEach(async () => {
    for (const turn of Object.values(SHORTAGES)) await turn(redis, false)
  })

  async function failToSave(redis: Redis) {
    if (/rdb_last_bgsave_status:err/.test(await redis.info('persistence'))) return
    await redis.bgsave()
    await waitUntil('the snapshot failed', async () =>
      /rdb_last_bgsave_status:err/.test(await redis.info('persistence')),
    )
  }

  for (const [what, turn] of Object.entries(SHORTAGES))
    describe(what, () => {
      before(async () => await failToSave(await openRedis(server.url)))

      it(`A server that is short (${what}) is tried again in the wait, with one event`, async () => {
        const redisson = await createRedisson({ redis: server.url })
        const errors = errorMessagesOf(redisson)
        const lock = redisson.getLock(uniqueName())
        const who = { threadId: 1 }
        await lock.lock(who)
        const held = await redisson.getLock(uniqueName()).acquire()
        const semaphore = redisson.getSemaphore(uniqueName())
        const permits = redisson.getPermitExpirableSemaphore(uniqueName())
        await Promise.all([semaphore.trySetPermits(5), permits.trySetPermits(5)])
        await turn(redis, true)
        const calls = [
          lock.lock(who),
          redisson.getLock(uniqueName()).lock(),
          redisson.getLock(uniqueName()).tryLock(20_000),
          redisson.getReadWriteLock(uniqueName()).readLock().lock(),
          redisson.getReadWriteLock(uniqueName()).writeLock().tryLock(20_000),
          held.unlock(),
          redisson.getFairLock(uniqueName()).lock(),
          redisson.getTokenLock(uniqueName()).tryLock(20_000),
          semaphore.acquire(2),
          permits.acquirePermit().then(({ isHeld }) => isHeld),
          redisson.getCountDownLatch(uniqueName()).trySetCount(1),
        ]
        for (const call of calls) call.catch(() => {})
        await sleep(600)
        await turn(redis, false)
        expect(await Promise.all(calls)).to.deep.equal([
          undefined,
          undefined,
          true,
          undefined,
          true,
          undefined,
          undefined,
          true,
          undefined,
          true,
          true,
        ])
        expect(await redis.mget(semaphore.getName(), permits.getName())).to.deep.equal(['3', '4'])
        expect(await redis.hvals(lock.getName())).to.deep.equal(['2'])
        expect(errors).to.have.length(1)
        expect(errors[0]).to.contain(what)
      })

      it(`A server that is short (${what}) fails no old waiter that meets it shortly`, async () => {
        const redisson = await createRedisson({ redis: server.url }, { unavailableAfter: 1_500 })
        const foreign = new ForeignLock(redis, uniqueName())
        await foreign.take(2_100)
        const waiting = redisson.getLock(foreign.name).acquire()
        await sleep(1_600)
        await turn(redis, true)
        await waitUntil('the lease is over', async () => (await redis.exists(foreign.name)) === 0)
        await sleep(400)
        await turn(redis, false)
        await (await waiting).unlock()
      })

      it(`A server that is short (${what}) for long fails calls as unavailable (V209)`, async () => {
        const redisson = await createRedisson({ redis: server.url }, { unavailableAfter: 800 })
        const foreign = new ForeignLock(redis, uniqueName())
        await foreign.take(1_000)
        await turn(redis, true)
        const calls = [
          [800, () => redisson.getLock(uniqueName()).lock()],
          [800, () => redisson.getLock(uniqueName()).tryLock(60_000)],
          [300, () => redisson.getLock(uniqueName()).tryLock(300)],
          // From when it met the trouble, not from when it began to wait; those behind it met the same trouble.
          ...Array.from({ length: 10 }, () => [1_500, () => redisson.getLock(foreign.name).lock()] as const),
        ] as const
        await Promise.all(
          calls.map(async ([expected, call]) => {
            let error = new Error()
            const took = await timed(async () => {
              error = await rejection(call())
            })
            expect(error).to.be.instanceOf(RedisUnavailableError)
            expect(error.message).to.contain(what)
            expect(took).to.be.within(expected - 1, expected + SLACK)
          }),
        )
      })

      it(`A server that is short (${what}) for long fails waiters in a fair queue (V208)`, async () => {
        const redisson = await createRedisson({ redis: server.url }, { unavailableAfter: 800 })
        const foreign = new ForeignLock(redis, uniqueName())
        await foreign.take(60_000)
        const lock = redisson.getFairLock(foreign.name)
        const failures = [1, 2, 3].map(() => rejection(lock.lock()))
        const places = `redisson_lock_timeout:{${foreign.name}}`
        await waitUntil('all have a place', async () => (await redis.zcard(places)) === 3)
        await turn(redis, true)
        for (const { code, message } of await Promise.all(failures))
          expect(`${code} ${message}`).to.match(new RegExp(`^REDIS_UNAVAILABLE .*${what}`))
      })

      it(`A server that is short (${what}) leaves nothing of an acquisition that failed`, async () => {
        const redisson = await createRedisson({ redis: server.url }, { unavailableAfter: 300 })
        const rw = redisson.getReadWriteLock(`${name}:rw`)
        const who = { threadId: 1 }
        await rw.writeLock().lock(who)
        await redisson.getLock(`${name}:plain`).lock(who)
        const keys = (await redis.keys(`*${name}*`)).sort()
        await turn(redis, true)
        for (const call of [
          () => redisson.getLock(`${name}:1`).lock(),
          () => redisson.getReadWriteLock(`${name}:2`).readLock().lock(),
          () => redisson.getReadWriteLock(`${name}:3`).writeLock().lock(),
          () => rw.readLock().lock(who),
          () => rw.writeLock().lock(who),
          () => redisson.getLock(`${name}:plain`).lock(who),
        ])
          expect((await rejection(call())).code).to.equal('REDIS_UNAVAILABLE')
        expect((await redis.keys(`*${name}*`)).sort()).to.deep.equal(keys)
        expect(Object.values((await look(redis, `${name}:rw`)).fields)).to.deep.equal([1])
        expect(await redis.hvals(`${name}:plain`)).to.deep.equal(['1'])
      })
    })

  it('Renewals work, and permits and latches release, on a server short of memory (P7)', async () => {
    const redisson = await createRedisson({ redis: server.url, lockWatchdogTimeout: 1_500 })
    const trouble: unknown[] = []
    for (const event of ['lockLost', 'permitLost', 'renewalFailed', 'error'] as const)
      redisson.on(event, (what: unknown) => trouble.push(what))
    const permits = redisson.getPermitExpirableSemaphore(`${name}:permits`)
    const semaphore = redisson.getSemaphore(`${name}:semaphore`)
    const latch = redisson.getCountDownLatch(`${name}:latch`)
    await Promise.all([permits.trySetPermits(1), semaphore.trySetPermits(1), latch.trySetCount(1)])
    await semaphore.acquire()
    const holds = [
      await redisson.getFairLock(`${name}:fair`).acquire(),
      await redisson.getTokenLock(`${name}:token`).acquire(),
      await permits.acquirePermit(),
    ]
    const waiting = latch.await()
    await SHORTAGES.OOM!(redis, true)
    await sleep(2_000)
    expect(holds.map(({ isHeld }) => isHeld)).to.deep.equal([true, true, true])
    for (const hold of holds) await ('unlock' in hold ? hold.unlock() : hold.release())
    await semaphore.release()
    await latch.countDown()
    await waiting
    expect(await redis.mget(`${name}:permits`, `${name}:semaphore`, `${name}:latch`)).to.deep.equal([
      '1',
      '1',
      null,
    ])
    expect(trouble).to.deep.equal([])
  })

  it('Plain, write and read holds are renewed though the server is short of memory', async () => {
    const redisson = await createRedisson({ redis: server.url, lockWatchdogTimeout: 1_500 })
    const trouble: unknown[] = eventsOf(redisson, 'lockLost')
    redisson.on('renewalFailed', (event) => trouble.push(event))
    redisson.on('error', (error) => trouble.push(error))
    const names = [uniqueName(), uniqueName(), uniqueName()] as const
    const who = { threadId: 1 }
    const holds = [
      await redisson.getLock(names[0]).acquire(),
      await redisson.getReadWriteLock(names[1]).writeLock().acquire(),
      await redisson.getReadWriteLock(names[2]).readLock().acquire(who),
      await redisson.getReadWriteLock(names[2]).readLock().acquire(who),
    ]
    await SHORTAGES.OOM!(redis, true)
    // A read timeout key that is gone is set anew, though SET alone would be refused.
    const owner = `${redisson.getId()}:${holds[3]!.threadId}`
    await redis.del(readTimeoutKey(names[2], owner, 2))
    expect((await rejection(redis.set('any', 'thing'))).message).to.contain('OOM')
    await sleep(3_000)
    expect(holds.map(({ isHeld }) => isHeld)).to.deep.equal([true, true, true, true])
    for (const name of names) expect(await redis.pttl(name)).to.be.greaterThan(700)
    const { readTimeouts } = await look(redis, names[2])
    expect(Object.keys(readTimeouts).sort()).to.deep.equal([`${owner}#1`, `${owner}#2`])
    for (const left of Object.values(readTimeouts)) expect(left).to.be.greaterThan(700)
    expect(trouble).to.deep.equal([])
    // A release takes no memory.
    for (const hold of holds.reverse()) await hold.unlock()
    expect(await redis.exists(...names)).to.equal(0)
  })

  it("A level's release, a step-down and a handoff need no memory (V22)", async () => {
    const redisson = await createRedisson({ redis: server.url })
    const who = { threadId: 1 }
    const sides = redisson.getReadWriteLock(uniqueName())
    const nested = [
      redisson.getLock(uniqueName()),
      redisson.getFairLock(uniqueName()),
      redisson.getFencedLock(uniqueName()),
      redisson.getReadWriteLock(uniqueName()).readLock(),
      redisson.getReadWriteLock(uniqueName()).writeLock(),
    ]
    for (const lock of [...nested, ...nested]) await lock.lock(who)
    await sides.writeLock().lock(who)
    await sides.readLock().lock(who)
    const token = uniqueName()
    await redis.set(token, 'giver', 'PX', 60_000)
    await SHORTAGES.OOM!(redis, true)
    const took = await timed(async () => {
      await Promise.all(nested.map((lock) => lock.unlock(who)))
      await sides.writeLock().unlock(who)
      // The script itself: whether a release becomes a handoff depends on how long the process has had the lock.
      const { source } = script('token-lock/handoff', (raw) => raw)
      expect(await redis.eval(source, 1, token, 'giver', 'taker', 60_000)).to.equal(null)
      await sides.readLock().unlock(who)
      await Promise.all(nested.map((lock) => lock.unlock(who)))
    })
    expect(took).to.be.lessThan(SLACK)
  })
})
