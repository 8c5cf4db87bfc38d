import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { rejection, timed, uniqueName } from '../../kit/clients'
import { freshName, name } from '../../kit/each-test'
import { internalsOf } from '../../kit/internals'
import { JumpingClock } from '../../kit/jumping-clock'
import { waitUntil } from '../../kit/servers/index'
import { setUpSilentReplicas } from './silent-replicas'

const SYNC = 300

describe('Semaphores and latches, and replicas that do not acknowledge', () => {
  freshName()
  const servers = setUpSilentReplicas(SYNC)
  const { pause, resume, connected } = servers
  const failWait = () =>
    waitUntil('its WAIT fails', async () => {
      const [, id] = /^id=(\d+).* cmd=wait/m.exec(String(await servers.redis.client('LIST'))) ?? []
      return id !== undefined && (await servers.redis.client('UNBLOCK', id, 'ERROR')) === 1
    })
  const mayRunScripts = (may: '+' | '-') =>
    servers.redis.acl('SETUSER', 'default', `${may}evalsha`, `${may}eval`)

  it("A semaphore's acquisition that no replica has is released once, granted later (S10)", async () => {
    const redisson = await connected()
    const { redis } = servers
    const semaphore = redisson.getSemaphore(name)
    await semaphore.trySetPermits(5)
    await semaphore.withPermits(() => {})
    await pause()
    const acquiring = rejection(semaphore.acquire(2))
    await waitUntil('it is taken for now', async () => (await redis.get(name)) === '3')
    expect(await acquiring).to.have.property('code', 'LOCK_NOT_REPLICATED')
    await waitUntil('it is released', async () => (await redis.get(name)) === '5')
    expect(await rejection(semaphore.tryAcquire(2))).to.have.property('code', 'LOCK_NOT_REPLICATED')
    await waitUntil('it is released', async () => (await redis.get(name)) === '5')
    await resume()
    await semaphore.acquire(2)
    expect(await redis.get(name)).to.equal('3')
    // What is released is back, though the replicas do not answer.
    await pause()
    await semaphore.release(2)
    expect(await redis.get(name)).to.equal('5')
  })

  it('A permit that no replica has is released, and granted once they are back (S10)', async () => {
    const redisson = await connected()
    const { redis } = servers
    const semaphore = redisson.getPermitExpirableSemaphore(name)
    await semaphore.trySetPermits(5)
    await semaphore.withPermit(() => {})
    await pause()
    expect(await rejection(semaphore.acquire({ permits: 2 }))).to.have.property('code', 'LOCK_NOT_REPLICATED')
    expect(await rejection(semaphore.acquirePermit())).to.have.property('code', 'LOCK_NOT_REPLICATED')
    await waitUntil('all is released', async () => (await redis.get(name)) === '5')
    expect(await redis.exists(`{${name}}:timeout`)).to.equal(0)
    await resume()
    await semaphore.withPermit(({ isHeld }) => void expect(isHeld).to.equal(true))
  })

  it('A release whose WAIT fails was applied, and is not sent again after a stop (V111)', async () => {
    const clock = new JumpingClock()
    const redisson = await connected({ slavesSyncTimeout: 5_000 }, { clock })
    redisson.on('error', () => {})
    const { redis } = servers
    const semaphore = redisson.getSemaphore(name)
    await semaphore.trySetPermits(0)
    await pause()
    const releasing = semaphore.release().catch(() => {})
    await waitUntil('it is applied', async () => (await redis.get(name)) === '1')
    Object.assign(clock, { stood: 62_000, jumped: 62_000 })
    await redis.del(`rlock_requests:{${name}}:${redisson.getId()}`)
    await failWait()
    await releasing
    await resume()
    await waitUntil('the background has finished', () => internalsOf(redisson).orphans.size === 0)
    expect(await redis.get(name)).to.equal('1')
  })

  it('No copy of a release is sent late by a process that stood still in WAIT (V182)', async () => {
    const clock = new JumpingClock()
    const redisson = await connected({ slavesSyncTimeout: 5_000 }, { clock })
    redisson.on('error', () => {})
    const { redis } = servers
    const [name, other] = [uniqueName('semaphore'), uniqueName('semaphore')]
    const semaphore = redisson.getSemaphore(name)
    await semaphore.trySetPermits(0)
    await pause()
    const releasing = rejection(semaphore.release())
    await waitUntil('it is applied', async () => (await redis.get(name)) === '1')
    const behind = redisson.getSemaphore(other).release()
    await new Promise(setImmediate)
    await failWait()
    await waitUntil('the other one waits', async () => (await redis.get(other)) === '1')
    // The next copy is in the queue by then.
    await sleep(300)
    Object.assign(clock, { stood: 62_000, jumped: 62_000 })
    await redis.del(`rlock_requests:{${name}}:${redisson.getId()}`)
    await resume()
    await behind
    expect(await releasing).to.have.property('code', 'REDIS_UNAVAILABLE')
    await waitUntil('the background has finished', () => internalsOf(redisson).orphans.size === 0)
    expect(await redis.get(name)).to.equal('1')
  })

  it('A release whose WAIT fails and copy is refused rejects as maybe applied (V115)', async () => {
    const redisson = await connected({ slavesSyncTimeout: 5_000 })
    redisson.on('error', () => {})
    const { redis } = servers
    const semaphore = redisson.getSemaphore(name)
    await semaphore.trySetPermits(0)
    await pause()
    const releasing = rejection(semaphore.release())
    await waitUntil('it is applied', async () => (await redis.get(name)) === '1')
    await mayRunScripts('-')
    try {
      await failWait()
      expect(await releasing).to.have.property('code', 'REDIS_UNAVAILABLE')
    } finally {
      await mayRunScripts('+')
      await resume()
    }
    await waitUntil('the background has finished', () => internalsOf(redisson).orphans.size === 0)
    expect(await redis.get(name)).to.equal('1')
  })

  it('An acquisition whose WAIT fails and copy is refused gives its permits back (V115)', async () => {
    const redisson = await connected({ slavesSyncTimeout: 5_000 })
    redisson.on('error', () => {})
    const { redis } = servers
    const semaphore = redisson.getSemaphore(name)
    await semaphore.trySetPermits(3)
    await pause()
    const acquiring = rejection(semaphore.acquire(2))
    await waitUntil('it is applied', async () => (await redis.get(name)) === '1')
    await mayRunScripts('-')
    try {
      await failWait()
      expect(await acquiring).to.have.property('code', 'REDIS_REFUSED')
    } finally {
      await mayRunScripts('+')
      await resume()
    }
    await waitUntil('its permits are back', async () => (await redis.get(name)) === '3')
  })

  it('An unacknowledged grant that a stopped process reads late is returned (V123)', async () => {
    const clock = new JumpingClock()
    const redisson = await connected({}, { clock })
    redisson.on('error', () => {})
    const { redis } = servers
    const semaphore = redisson.getSemaphore(name)
    await semaphore.trySetPermits(3)
    await semaphore.withPermits(() => {})
    await pause()
    const acquiring = rejection(semaphore.acquire(2))
    await waitUntil('it is applied', async () => (await redis.get(name)) === '1')
    Object.assign(clock, { stood: 62_000, jumped: 62_000 })
    await redis.del(`rlock_requests:{${name}}:${redisson.getId()}`)
    expect(await acquiring).to.have.property('code', 'LOCK_NOT_REPLICATED')
    await resume()
    await waitUntil('the background has finished', () => internalsOf(redisson).orphans.size === 0)
    expect(await redis.get(name)).to.equal('3')
  })

  it('The release of a permit that is refused behind a copy whose WAIT failed ends it (V125)', async () => {
    const redisson = await connected({ slavesSyncTimeout: 5_000 })
    redisson.on('error', () => {})
    const { redis } = servers
    const semaphore = redisson.getPermitExpirableSemaphore(name)
    await semaphore.trySetPermits(1)
    const permit = await semaphore.acquirePermit()
    await pause()
    const releasing = rejection(permit.release())
    await waitUntil('it is applied', async () => (await redis.get(name)) === '1')
    expect(permit.isHeld).to.equal(false)
    await mayRunScripts('-')
    try {
      await failWait()
      expect(await releasing).to.have.property('code', 'REDIS_UNAVAILABLE')
    } finally {
      await mayRunScripts('+')
      await resume()
    }
    expect(permit.isHeld).to.equal(false)
    await waitUntil('the background has finished', () => internalsOf(redisson).orphans.size === 0)
    expect(await redis.get(name)).to.equal('1')
  })

  it('A latch does not wait for replicas', async () => {
    const latch = (await connected()).getCountDownLatch(uniqueName('latch'))
    await latch.trySetCount(2)
    await pause()
    expect(await timed(() => latch.countDown())).to.be.below(SYNC)
    expect(await latch.getCount()).to.equal(1)
  })
})
