import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import type { ClientInternals } from '../../../src/client/client'
import { closeAll, uniqueName } from '../../kit/clients'
import { closeProxies } from '../../kit/proxies'
import { waitUntil, without } from '../../kit/servers/index'
import { openStandalone, type Setting } from '../lost-replies/setting'
import { LateLink } from './link'

/** Where the words of an acquisition have its deadline: behind the command, the hash, two keys and three arguments. */
const DEADLINE = 8

describe('A copy of an acquisition of permits whose connection could not be fenced', () => {
  let setting: Setting
  let link: LateLink

  before(async () => {
    setting = await openStandalone()
  })
  beforeEach(async () => {
    link = await LateLink.open(setting)
  })
  afterEach(async () => {
    await closeAll()
    await closeProxies()
  })
  after(() => setting.stop())

  async function semaphoreOfOne(internals: ClientInternals = {}) {
    const username = uniqueName('user')
    const rules = ['on', '>secret', '~*', '&*', '+@all', ...without('client', 'kill')]
    await setting.admin.call('ACL', 'SETUSER', username, ...rules)
    const { host, port } = link.proxies[0]!
    const redisson = await link.client({}, internals, { host, port, username, password: 'secret' })
    const name = setting.newName()
    await setting.admin.set(name, 1)
    return { semaphore: redisson.getPermitExpirableSemaphore(name), name }
  }

  const free = (name: string) => setting.admin.get(name)
  const out = (name: string) => setting.admin.zcard(`{${name}}:timeout`)

  async function serverTime(): Promise<number> {
    const [seconds, micros] = (await setting.admin.time()) as [number, number]
    return Number(seconds) * 1_000 + Number(micros) / 1_000
  }

  const LEASES = { 'without a lease': undefined, 'with a lease': 60_000 }
  for (const [which, leaseTime] of Object.entries(LEASES))
    it(`A copy that arrives after its call would have been given up takes no permit ${which} (guarantee 4, P3)`, async () => {
      const { semaphore, name } = await semaphoreOfOne({ unavailableAfter: 1_500 })
      await semaphore.release((await semaphore.acquire({ permits: 1, leaseTime }))!)
      const withheld = link.withhold(name)
      const ids = await semaphore.acquire({ permits: 1, leaseTime })
      const copy = await withheld
      await semaphore.release(ids!)
      const deadline = Number(copy.words[DEADLINE])
      await waitUntil('its deadline has passed', async () => (await serverTime()) > deadline + 1)
      expect(await copy.arrive()).to.equal('executed')
      // Well before the next look for late copies, 5 s after the release.
      expect([await free(name), await out(name)]).to.deep.equal(['1', 0])
    })

  it('A copy of the very first call of a client takes no permit without a lease: before it knows the time, the call asks for that (guarantee 4, P3)', async () => {
    const { semaphore, name } = await semaphoreOfOne()
    const withheld = link.withhold(name)
    const id = await semaphore.tryAcquire()
    expect(id, 'one try is enough').to.be.a('string')
    const copy = await withheld
    await semaphore.release(id!)
    expect(await copy.arrive()).to.equal('executed')
    expect([await free(name), await out(name)]).to.deep.equal(['1', 0])
  })

  it('A permit without a lease that a copy takes in time, after its release, is found and released (guarantee 4, P3)', async () => {
    const { semaphore, name } = await semaphoreOfOne()
    await semaphore.release(await semaphore.acquire())
    const withheld = link.withhold(name)
    const id = await semaphore.acquire()
    const copy = await withheld
    await semaphore.release(id)
    expect(await copy.arrive()).to.equal('executed')
    expect([await free(name), await out(name)], 'the copy took it').to.deep.equal(['0', 1])
    await waitUntil('it is released', async () => (await free(name)) === '1' && (await out(name)) === 0)
  })

  it('A copy of an acquisition does not shorten the lease that its permit has got since (guarantee 4, P3)', async () => {
    const { semaphore, name } = await semaphoreOfOne()
    const withheld = link.withhold(name)
    const permit = await semaphore.acquirePermit({ leaseTime: 2_000 })
    const copy = await withheld
    expect(await semaphore.updateLeaseTime(permit.id, 60_000)).to.equal(true)
    expect(await copy.arrive()).to.equal('executed')
    expect(await semaphore.getLeaseTime(permit.id)).to.be.above(50_000)
    expect(permit.isHeld).to.equal(true)
  })

  it('A copy of an acquisition takes none of its permits away that are still in use (guarantee 4, P3)', async () => {
    const { semaphore, name } = await semaphoreOfOne()
    await semaphore.setPermits(2)
    const withheld = link.withhold(name)
    const [released, kept] = (await semaphore.acquire({ permits: 2, leaseTime: 60_000 })) as [string, string]
    const copy = await withheld
    await semaphore.release(released)
    await setting.admin.set(name, 0)
    expect(await copy.arrive()).to.equal('executed')
    expect([await free(name), await semaphore.tryRelease(kept)]).to.deep.equal(['0', true])
  })

  it('Permits that tryRelease() left in use stay in use, although a copy of their acquisition may arrive (guarantee 4, P6)', async () => {
    const { semaphore, name } = await semaphoreOfOne()
    const withheld = link.withhold(name)
    const ids = (await semaphore.acquire({ permits: 1, leaseTime: 60_000 }))!
    await withheld
    expect(await semaphore.tryRelease([...ids, 'f'.repeat(32)])).to.equal(0)
    // The first look for late copies comes after a second.
    await sleep(1_300)
    expect([await free(name), await out(name)]).to.deep.equal(['0', 1])
    expect(await semaphore.tryRelease(ids)).to.equal(1)
  })

  it('A copy of updateLeaseTime() does not shorten the lease that was set since (guarantee 4, P3)', async () => {
    const { semaphore, name } = await semaphoreOfOne()
    const permit = await semaphore.acquirePermit()
    const withheld = link.withhold(name)
    expect(await semaphore.updateLeaseTime(permit.id, 20_000)).to.equal(true)
    const copy = await withheld
    expect(await semaphore.updateLeaseTime(permit.id, 60_000)).to.equal(true)
    expect(await copy.arrive()).to.equal('executed')
    expect(await semaphore.getLeaseTime(permit.id)).to.be.above(50_000)
    expect(permit.isHeld).to.equal(true)
  })

  it('A copy of setPermits() does not undo the number that was set since (guarantee 4, P3)', async () => {
    const { semaphore, name } = await semaphoreOfOne()
    const withheld = link.withhold(name)
    await semaphore.setPermits(5)
    const copy = await withheld
    await semaphore.setPermits(1)
    expect(await copy.arrive()).to.equal('executed')
    expect(await semaphore.getPermits()).to.equal(1)
  })
})
