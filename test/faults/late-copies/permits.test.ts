import { expect } from 'chai'
import type { RPermitExpirableSemaphore } from '../../../src/index'
import { uniqueName } from '../../kit/clients'
import { without } from '../../kit/servers/index'
import { lateLinks, link, setting } from './link'

describe('A copy of an acquisition of permits whose connection could not be fenced', () => {
  lateLinks()

  let semaphore: RPermitExpirableSemaphore
  let name: string

  beforeEach(async () => {
    const username = uniqueName('user')
    const rules = ['on', '>secret', '~*', '&*', '+@all', ...without('client', 'kill')]
    await setting.admin.call('ACL', 'SETUSER', username, ...rules)
    const { host, port } = link.proxies[0]!
    const redisson = await link.client({}, {}, { host, port, username, password: 'secret' })
    name = setting.newName()
    await setting.admin.set(name, 1)
    semaphore = redisson.getPermitExpirableSemaphore(name)
  })

  const free = (name: string) => setting.admin.get(name)
  const out = (name: string) => setting.admin.zcard(`{${name}}:timeout`)

  it('A copy of an acquisition takes only a free permit: never too many holders (P3)', async () => {
    const withheld = link.withhold(name)
    const id = await semaphore.acquire()
    const copy = await withheld
    await semaphore.release(id)
    const theirs = await setting.peer.getPermitExpirableSemaphore(name).acquire()
    expect(await copy.arrive()).to.equal('executed')
    expect([await free(name), await out(name)]).to.deep.equal(['0', 1])
    expect(await setting.peer.getPermitExpirableSemaphore(name).tryRelease(theirs)).to.equal(true)
    expect([await free(name), await out(name)]).to.deep.equal(['1', 0])
  })

  it("A leased permit that a copy takes after release is free at the lease's end (P3)", async () => {
    const withheld = link.withhold(name)
    const ids = await semaphore.acquire({ permits: 1, leaseTime: 1_500 })
    const copy = await withheld
    await semaphore.release(ids!)
    expect(await copy.arrive()).to.equal('executed')
    expect([await free(name), await out(name)], 'the copy took it').to.deep.equal(['0', 1])
    expect(
      await setting.peer.getPermitExpirableSemaphore(name).tryAcquire({ permits: 1, waitTime: 10_000 }),
    ).to.have.length(1)
  })

  it("A copy of an acquisition does not shorten its permit's newer lease (P3)", async () => {
    const withheld = link.withhold(name)
    const [id] = (await semaphore.acquire({ permits: 1, leaseTime: 2_000 }))!
    const copy = await withheld
    expect(await semaphore.updateLeaseTime(id!, 60_000)).to.equal(true)
    expect(await copy.arrive()).to.equal('executed')
    expect(await semaphore.getLeaseTime(id!)).to.be.above(50_000)
  })

  it('A copy of an acquisition takes none of its used permits away (P3)', async () => {
    await semaphore.setPermits(2)
    const withheld = link.withhold(name)
    const [released, kept] = (await semaphore.acquire({ permits: 2, leaseTime: 60_000 })) as [string, string]
    const copy = await withheld
    await semaphore.release(released)
    await setting.admin.set(name, 0)
    expect(await copy.arrive()).to.equal('executed')
    expect([await free(name), await semaphore.tryRelease(kept)]).to.deep.equal(['0', true])
  })

  it('A copy of updateLeaseTime() does not shorten the lease set since (P3)', async () => {
    const id = await semaphore.acquire()
    const withheld = link.withhold(name)
    expect(await semaphore.updateLeaseTime(id, 20_000)).to.equal(true)
    const copy = await withheld
    expect(await semaphore.updateLeaseTime(id, 60_000)).to.equal(true)
    expect(await copy.arrive()).to.equal('executed')
    expect(await semaphore.getLeaseTime(id)).to.be.above(50_000)
  })

  it('A copy of setPermits() does not undo the number that was set since (guarantee 4, P3)', async () => {
    const withheld = link.withhold(name)
    await semaphore.setPermits(5)
    const copy = await withheld
    await semaphore.setPermits(1)
    expect(await copy.arrive()).to.equal('executed')
    expect(await semaphore.getPermits()).to.equal(1)
  })
})
