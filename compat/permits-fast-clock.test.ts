import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { type Permit, type Redisson, TimeUnit } from '../src/index'
import { createRedisson, rejection, uniqueName } from '../test/kit/clients'
import { openUntilTheEnd } from '../test/kit/closing'
import { describeWithJava, ownJavaPeer } from '../test/kit/java'
import { ownServer, waitUntil } from '../test/kit/servers/index'
import { type JavaObject, javaObject } from './support/java-methods'

/** Less than a permit that renews itself ever has left, and much more than any test takes. */
const AHEAD = 15_000
const MS = 'MILLISECONDS'

/** What docs/guides/semaphores.md says of clocks. */
describeWithJava('Permits beside a Java client whose clock is ahead (P1)', () => {
  openUntilTheEnd()
  const server = ownServer()
  const java = ownJavaPeer(server, { jvmFlags: [`-Dpeer.clockAhead=${AHEAD}`] })
  let node: Redisson
  let quick: Redisson

  before(async () => {
    node = await createRedisson({ redis: server.url })
    quick = await createRedisson({ redis: server.url, lockWatchdogTimeout: 3_000 })
  })

  async function semaphoreOf(client: Redisson) {
    const name = uniqueName('permits')
    const ours = client.getPermitExpirableSemaphore(name)
    await ours.trySetPermits(1)
    const theirs: JavaObject = javaObject(java.thread('a'), 'getPermitExpirableSemaphore', name)
    return { ours, theirs }
  }

  it('Its clock is ahead: what it leases for a second is out to ours until its clock says so', async () => {
    const { ours, theirs } = await semaphoreOf(node)
    const id = await theirs<string>('tryAcquire', 0, 1_000, MS)
    expect(await ours.getLeaseTime(id)).to.be.within(AHEAD - 5_000, AHEAD + 1_000)
    await sleep(1_200)
    expect(await ours.availablePermits()).to.equal(0)
  })

  it('A permit without a lease is never taken back by its clock', async () => {
    const { ours, theirs } = await semaphoreOf(node)
    const id = await ours.acquire()
    expect(await theirs('tryAcquire')).to.equal(undefined)
    expect(await theirs('availablePermits')).to.equal(0)
    await ours.release(id)
  })

  it('A renewed permit survives a clock that is two thirds of the watchdog time ahead', async () => {
    const { ours, theirs } = await semaphoreOf(node)
    const permit: Permit = await ours.acquirePermit()
    expect(await theirs('tryAcquire')).to.equal(undefined)
    expect(await theirs('availablePermits')).to.equal(0)
    expect(permit.isHeld).to.equal(true)
    await permit.release()
  })

  it('A permit renewed too seldom for a fast clock is taken back, and its holder learns', async () => {
    const { ours, theirs } = await semaphoreOf(quick)
    const permit = await ours.acquirePermit()
    const lost = new Promise<string>((resolve) => quick.on('permitLost', ({ reason }) => resolve(reason)))
    expect(await theirs('tryAcquire')).to.be.a('string')
    expect(await lost).to.equal('gone')
    expect(permit.signal.aborted).to.equal(true)
  })

  it('A leased permit that a fast clock took back is lost: its release rejects', async () => {
    const { ours, theirs } = await semaphoreOf(node)
    const id = await ours.acquire(AHEAD - 5_000, TimeUnit.MILLISECONDS)
    expect(await theirs('availablePermits')).to.equal(1)
    expect(await theirs('tryAcquire')).to.be.a('string')
    expect(await rejection(ours.release(id))).to.have.property('code', 'PERMIT_NOT_HELD')
    await waitUntil('its place is that of another', async () => (await ours.availablePermits()) === 0)
  })
})
