import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { createRedisson, openRedis, rejection, uniqueName } from '../kit/clients'
import { ForeignLock } from '../kit/foreign-lock'
import { leftIn } from '../kit/left-in'
import { Program } from '../kit/program'
import { ownServer, waitUntil } from '../kit/servers/index'

describe('What is left when the last waiter and hold have gone', () => {
  const server = ownServer()

  // All its channels are counted, so no other client may subscribe.

  it('No subscription is left after 5,000 tasks over five names (A4)', async () => {
    const redis = await openRedis(server.url)
    const clients = [await createRedisson({ redis: server.url }), await createRedisson({ redis: server.url })]
    const names = Array.from({ length: 5 }, () => uniqueName())
    const inside = new Map(names.map((name) => [name, 0]))
    let most = 0
    const task = async (index: number) => {
      const name = names[index % 5]!
      await clients[index % 2]!.getLock(name).withLock(async () => {
        inside.set(name, inside.get(name)! + 1)
        most = Math.max(most, inside.get(name)!)
        await Promise.resolve()
        inside.set(name, inside.get(name)! - 1)
      })
    }
    await Promise.all(Array.from({ length: 5_000 }, (_, index) => task(index)))
    expect(most).to.equal(1)
    await waitUntil(
      'nothing is subscribed',
      async () => ((await redis.pubsub('CHANNELS', 'redisson_*')) as string[]).length === 0,
      5_000,
    )
    for (const client of clients)
      await waitUntil('nothing is left', () => sizeOf(leftIn(client)) === 0, 10_000)
    expect(await redis.dbsize()).to.equal(0)
  })

  it('Nothing is left in the client, for every way in which holds and waits end (guarantee 7)', async () => {
    const redisson = await createRedisson({ redis: server.url, lockWatchdogTimeout: 600 })
    const redis = await openRedis(server.url)
    const lock = redisson.getLock(uniqueName())
    const abort = new AbortController()

    // Released, timed out, aborted; by threads, explicit ids and unscoped calls.
    await redisson.run(async () => {
      await lock.lock()
      await lock.lock(5_000)
      const out = lock.tryLock({ waitTime: 50, threadId: 1 })
      const aborted = rejection(lock.lock({ signal: abort.signal, threadId: 2 }))
      expect(await out).to.equal(false)
      abort.abort()
      await aborted
      await lock.unlock()
      await lock.unlock()
    })
    await lock.lock({ threadId: 3 })
    await lock.unlock({ threadId: 3 })

    // Lost, released by force, run out.
    const lost = await redisson.getLock(uniqueName()).acquire({ threadId: 4 })
    await redis.del(lost.lockName)
    await waitUntil('the loss is noticed', () => lost.signal.aborted)
    expect((await rejection(lost.unlock())).code).to.equal('LOCK_LOST')
    const forced = await redisson.getLock(uniqueName()).acquire()
    await redisson.getLock(forced.lockName).forceUnlock()
    const short = await redisson.getLock(uniqueName()).acquire({ leaseTime: 200 })
    await waitUntil('it has run out', () => short.signal.aborted)

    expect(leftIn(redisson)).not.to.have.property('holds')
    await waitUntil('nothing is left', () => sizeOf(leftIn(redisson)) === 0, 10_000).catch(() => {})
    expect(leftIn(redisson)).to.deep.equal({})
  })

  it('Nothing is left of the cohorts of a client that listened and then left (guarantee 7)', async () => {
    const redisson = await createRedisson({ redis: server.url })
    const foreign = new ForeignLock(await openRedis(server.url), uniqueName())
    const ear = await openRedis(server.url)
    await ear.subscribe(foreign.channel)
    await redisson.getLock(foreign.name).withLock(() => {})
    expect(leftIn(redisson)).to.include({ channels: 1 })
    await waitUntil('nothing is left', () => sizeOf(leftIn(redisson)) === 0, 10_000)
  })

  it('No memory of 30,000 names is left (guarantee 7)', async () => {
    const program = new Program('many-names.ts', String(server.port), uniqueName(), '30000')
    const grown = Number(await program.line())
    // 40 bytes a name would be less than a key in a map costs.
    expect(grown).to.be.lessThan(1_200_000)
    expect(await Promise.race([program.exit, sleep(10_000, 'still running')])).to.equal(0)
  })

  const sizeOf = (left: Record<string, number>) => Object.keys(left).length
})
