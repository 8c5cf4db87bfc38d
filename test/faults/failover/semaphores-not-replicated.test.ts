import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import type { Redisson } from '../../../src/index'
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
  const refuseCopyAfterWait = async () => {
    await mayRunScripts('-')
    await failWait()
  }
  const goOn = async () => {
    await mayRunScripts('+')
    await resume()
  }
  afterEach(() => mayRunScripts('+'))
  const has = (what: string, permits: string) =>
    waitUntil(what, async () => (await servers.redis.get(name)) === permits)
  const settled = (redisson: Redisson) =>
    waitUntil('the background has finished', () => internalsOf(redisson).orphans.size === 0)

  it("A semaphore's acquisition that no replica has is released once, granted later (S10)", async () => {
    const redisson = await connected()
    const semaphore = redisson.getSemaphore(name)
    await semaphore.trySetPermits(5)
    await semaphore.withPermits(() => {})
    await pause()
    const acquiring = rejection(semaphore.acquire(2))
    await has('it is taken for now', '3')
    expect(await acquiring).to.have.property('code', 'LOCK_NOT_REPLICATED')
    await has('it is released', '5')
    expect(await rejection(semaphore.tryAcquire(2))).to.have.property('code', 'LOCK_NOT_REPLICATED')
    await has('it is released', '5')
    await resume()
    await semaphore.acquire(2)
    expect(await servers.redis.get(name)).to.equal('3')
    // What is released is back, though the replicas do not answer.
    await pause()
    await semaphore.release(2)
    expect(await servers.redis.get(name)).to.equal('5')
  })

  it('A permit that no replica has is released, and granted once they are back (S10)', async () => {
    const redisson = await connected()
    const semaphore = redisson.getPermitExpirableSemaphore(name)
    await semaphore.trySetPermits(5)
    await semaphore.withPermit(() => {})
    await pause()
    expect(await rejection(semaphore.acquire({ permits: 2 }))).to.have.property('code', 'LOCK_NOT_REPLICATED')
    expect(await rejection(semaphore.acquirePermit())).to.have.property('code', 'LOCK_NOT_REPLICATED')
    await has('all is released', '5')
    expect(await servers.redis.exists(`{${name}}:timeout`)).to.equal(0)
    await resume()
    await semaphore.withPermit(({ isHeld }) => void expect(isHeld).to.equal(true))
  })

  it('A release whose WAIT fails was applied, and is not sent again after a stop (V111)', async () => {
    const clock = new JumpingClock()
    const redisson = await connected({ slavesSyncTimeout: 5_000 }, { clock })
    redisson.on('error', () => {})
    const semaphore = redisson.getSemaphore(name)
    await semaphore.trySetPermits(0)
    await pause()
    const releasing = semaphore.release().catch(() => {})
    await has('it is applied', '1')
    Object.assign(clock, { stood: 62_000, jumped: 62_000 })
    await servers.redis.del(`rlock_requests:{${name}}:${redisson.getId()}`)
    await failWait()
    await releasing
    await resume()
    await settled(redisson)
    expect(await servers.redis.get(name)).to.equal('1')
  })

  it('No copy of a release is sent late by a process that stood still in WAIT (V182)', async () => {
    const clock = new JumpingClock()
    const redisson = await connected({ slavesSyncTimeout: 5_000 }, { clock })
    redisson.on('error', () => {})
    const other = uniqueName('semaphore')
    const semaphore = redisson.getSemaphore(name)
    await semaphore.trySetPermits(0)
    await pause()
    const releasing = rejection(semaphore.release())
    await has('it is applied', '1')
    const behind = redisson.getSemaphore(other).release()
    await new Promise(setImmediate)
    await failWait()
    await waitUntil('the other one waits', async () => (await servers.redis.get(other)) === '1')
    // The next copy is in the queue by then.
    await sleep(300)
    Object.assign(clock, { stood: 62_000, jumped: 62_000 })
    await servers.redis.del(`rlock_requests:{${name}}:${redisson.getId()}`)
    await resume()
    await behind
    expect(await releasing).to.have.property('code', 'REDIS_UNAVAILABLE')
    await settled(redisson)
    expect(await servers.redis.get(name)).to.equal('1')
  })

  it('A release whose WAIT fails and copy is refused rejects as maybe applied (V115)', async () => {
    const redisson = await connected({ slavesSyncTimeout: 5_000 })
    redisson.on('error', () => {})
    const semaphore = redisson.getSemaphore(name)
    await semaphore.trySetPermits(0)
    await pause()
    const releasing = rejection(semaphore.release())
    await has('it is applied', '1')
    await refuseCopyAfterWait()
    expect(await releasing).to.have.property('code', 'REDIS_UNAVAILABLE')
    await goOn()
    await settled(redisson)
    expect(await servers.redis.get(name)).to.equal('1')
  })

  it('An acquisition whose WAIT fails and copy is refused gives its permits back (V115)', async () => {
    const redisson = await connected({ slavesSyncTimeout: 5_000 })
    redisson.on('error', () => {})
    const semaphore = redisson.getSemaphore(name)
    await semaphore.trySetPermits(3)
    await pause()
    const acquiring = rejection(semaphore.acquire(2))
    await has('it is applied', '1')
    await refuseCopyAfterWait()
    expect(await acquiring).to.have.property('code', 'REDIS_REFUSED')
    await goOn()
    await has('its permits are back', '3')
  })

  it('An unacknowledged grant that a stopped process reads late is returned (V123)', async () => {
    const clock = new JumpingClock()
    const redisson = await connected({}, { clock })
    redisson.on('error', () => {})
    const semaphore = redisson.getSemaphore(name)
    await semaphore.trySetPermits(3)
    await semaphore.withPermits(() => {})
    await pause()
    const acquiring = rejection(semaphore.acquire(2))
    await has('it is applied', '1')
    Object.assign(clock, { stood: 62_000, jumped: 62_000 })
    await servers.redis.del(`rlock_requests:{${name}}:${redisson.getId()}`)
    expect(await acquiring).to.have.property('code', 'LOCK_NOT_REPLICATED')
    await resume()
    await settled(redisson)
    expect(await servers.redis.get(name)).to.equal('3')
  })

  it('The release of a permit that is refused behind a copy whose WAIT failed ends it (V125)', async () => {
    const redisson = await connected({ slavesSyncTimeout: 5_000 })
    redisson.on('error', () => {})
    const semaphore = redisson.getPermitExpirableSemaphore(name)
    await semaphore.trySetPermits(1)
    const permit = await semaphore.acquirePermit()
    await pause()
    const releasing = rejection(permit.release())
    await has('it is applied', '1')
    expect(permit.isHeld).to.equal(false)
    await refuseCopyAfterWait()
    expect(await releasing).to.have.property('code', 'REDIS_UNAVAILABLE')
    await goOn()
    expect(permit.isHeld).to.equal(false)
    await settled(redisson)
    expect(await servers.redis.get(name)).to.equal('1')
  })

  it('A latch does not wait for replicas', async () => {
    const latch = (await connected()).getCountDownLatch(uniqueName('latch'))
    await latch.trySetCount(2)
    await pause()
    expect(await timed(() => latch.countDown())).to.be.below(SYNC)
    expect(await latch.getCount()).to.equal(1)
  })
})
