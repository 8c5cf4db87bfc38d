import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { createRedisson, openRedis, rejection, timed, uniqueName } from '../kit/clients'
import { redis, redisAndName } from '../kit/each-test'
import { ForeignLock } from '../kit/foreign-lock'
import {
  ownServer,
  type Standalone,
  slowLoading,
  startStandalone,
  waitUntil,
  withClient,
} from '../kit/servers/index'

describe('a server that declines for a moment', () => {
  const server = ownServer()

  after(() => server.stop())

  redisAndName('test', { server })

  it('A server may forget its scripts between any two commands of a lock (D1)', async () => {
    const redisson = await createRedisson({ redis: server.url, lockWatchdogTimeout: 900 })
    const lock = redisson.getLock(uniqueName())
    const forget = () => redis.script('FLUSH')
    await redisson.run(async () => {
      await forget()
      await lock.lock()
      await forget()
      await lock.lock()
      await forget()
      expect(await lock.getHoldCount()).to.equal(2)
      await forget()
      // Long enough for renewals that find no script.
      await sleep(1_200)
      await forget()
      await lock.unlock()
      await forget()
      await lock.unlock()
      expect(await lock.isLocked()).to.equal(false)
      await lock.lock()
      await forget()
      expect(await lock.forceUnlock()).to.equal(true)
    })
  })

  it('A waiter wakes and acquires though the server forgot its scripts (D1)', async () => {
    const foreign = new ForeignLock(redis, uniqueName())
    await foreign.take(60_000)
    const redisson = await createRedisson({ redis: server.url })
    const waiting = redisson.getLock(foreign.name).acquire()
    await waitUntil('it waits', async () => (await foreign.listeners()) === 1)
    await redis.script('FLUSH')
    await foreign.release()
    await (await waiting).unlock()
  })

  it('A paused server (CLIENT PAUSE) is tried again within the wait (D6)', async () => {
    const redisson = await createRedisson({ redis: server.url })
    const lock = redisson.getLock(uniqueName())
    await redis.client('PAUSE', 500, 'WRITE')
    expect(await lock.tryLock(10_000)).to.equal(true)
    await lock.unlock()
  })

  it('A server that lacks replicas (NOREPLICAS) is tried again within the wait (D6)', async () => {
    const redisson = await createRedisson({ redis: server.url })
    const lock = redisson.getLock(uniqueName())
    await redis.config('SET', 'min-replicas-to-write', 1)
    try {
      const trying = lock.tryLock(10_000)
      await sleep(300)
      await redis.config('SET', 'min-replicas-to-write', 0)
      expect(await trying).to.equal(true)
      // So is a release.
      await redis.config('SET', 'min-replicas-to-write', 1)
      const unlocking = lock.unlock()
      await sleep(300)
      await redis.config('SET', 'min-replicas-to-write', 0)
      await unlocking
    } finally {
      await redis.config('SET', 'min-replicas-to-write', 0)
    }
  })

  it('A server that still lacks replicas fails no call before its wait is over (D6)', async () => {
    const redisson = await createRedisson({ redis: server.url }, { unavailableAfter: 1_000 })
    await redis.config('SET', 'min-replicas-to-write', 1)
    try {
      const took = await timed(async () => {
        const error = await rejection(redisson.getLock(uniqueName()).tryLock(30_000))
        expect(error.code).to.equal('REDIS_UNAVAILABLE')
        expect(error.message).to.contain('NOREPLICAS')
      })
      expect(took).to.be.within(999, 5_000)
    } finally {
      await redis.config('SET', 'min-replicas-to-write', 0)
    }
  })

  it('A server that is a replica for a moment (READONLY) is tried again within the wait (D6)', async () => {
    const redisson = await createRedisson({ redis: server.url })
    const lock = redisson.getLock(uniqueName())
    await redis.call('REPLICAOF', '127.0.0.1', '1')
    try {
      const trying = lock.tryLock(10_000)
      await sleep(300)
      await redis.call('REPLICAOF', 'NO', 'ONE')
      expect(await trying).to.equal(true)
      await lock.unlock()
    } finally {
      await redis.call('REPLICAOF', 'NO', 'ONE')
    }
  })

  it('A server that is busy with a script (BUSY) is tried again within the wait (D6)', async () => {
    const redisson = await createRedisson({ redis: server.url })
    const lock = redisson.getLock(uniqueName())
    await redis.config('SET', 'lua-time-limit', 50)
    const endless = rejection((await openRedis(server.url)).eval('while true do end', 0))
    await sleep(200)
    const trying = lock.tryLock(10_000)
    await sleep(300)
    await redis.script('KILL')
    expect(await trying).to.equal(true)
    await lock.unlock()
    expect((await endless).message).to.match(/killed/i)
  })
})

describe('a server that loads its data', () => {
  let server: Standalone

  before(async () => {
    // Loading takes a moment for each key, and commands are looked at in between.
    server = await startStandalone({
      appendonly: true,
      config: await slowLoading(),
    })
  })

  it('A server that is LOADING is tried again within the wait, and locks survive (D6)', async () => {
    const redis = await openRedis(server.url)
    await redis.eval("for i = 1, 4000 do redis.call('set', 'key' .. i, 'x') end", 0)
    const redisson = await createRedisson({ redis: server.url })
    const held = await redisson.getLock(uniqueName()).acquire({ leaseTime: 60_000 })
    redis.disconnect()
    const restarting = server.restart()
    await waitUntil('the server is loading', async () => {
      const refusal = await rejection(withClient(server, (client) => client.get('key1')))
      return refusal.message.startsWith('LOADING')
    })
    const lock = redisson.getLock(uniqueName())
    expect(await lock.tryLock(20_000)).to.equal(true)
    await restarting
    await lock.unlock()
    expect(held.isHeld).to.equal(true)
    await held.unlock()
  })
})
