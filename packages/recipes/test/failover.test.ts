import { expect } from 'chai'
import type { Redisson } from 'rlock'
import { createRedisson, uniqueName } from '../../../test/kit/clients'
import { openUntilTheEnd } from '../../../test/kit/closing'
import { ownSentinel, waitUntil } from '../../../test/kit/servers/index'
import { elect, once, takeSlot } from '../src/index'

const KEEP = { keep: 600_000 }

describe('Recipes and the death of a primary', function () {
  this.timeout(120_000)
  const setup = ownSentinel()
  openUntilTheEnd()
  let clients: readonly [Redisson, Redisson]

  before(async () => {
    const redis = {
      sentinels: setup.sentinels.map(({ host, port }) => ({ host, port })),
      name: setup.name,
    }
    const create = async () => {
      const client = await createRedisson({ redis }, { unavailableAfter: 30_000 })
      client.on('error', () => {})
      return client
    }
    clients = [await create(), await create()]
  })

  it('A slot, a run, a value and a leader outlive it, and no one else has them', async () => {
    const [one, other] = clients
    const [slots, key, done, name] = Array.from({ length: 4 }, () => uniqueName()) as [
      string,
      string,
      string,
      string,
    ]
    const lost: string[] = []
    for (const client of clients) client.on('lockLost', ({ lockName }) => lost.push(lockName))
    const slot = await takeSlot(one, slots, 1)
    await once(one, done, () => 'kept', KEEP)
    let end!: (value: string) => void
    const running = once(one, key, () => new Promise<string>((resolve) => (end = resolve)), KEEP)
    const a = elect(one, name, { label: 'a' })
    await waitUntil('a leads, and it runs', () => a.isLeader && end !== undefined)
    const old = await setup.killPrimary()
    const waiting = takeSlot(other, slots, 1)
    const following = once(other, key, () => 'twice', KEEP)
    const b = elect(other, name, { label: 'b' })
    await setup.waitForNewPrimary(old)
    expect(await once(other, done, () => 'twice', KEEP)).to.deep.equal({ first: false, value: 'kept' })
    expect([slot.signal.aborted, a.isLeader, b.isLeader]).to.deep.equal([false, true, false])
    const { term } = a
    end('once')
    expect(await running).to.deep.equal({ first: true, value: 'once' })
    expect(await following).to.deep.equal({ first: false, value: 'once' })
    await slot.release()
    expect((await waiting).index).to.equal(0)
    await a.resign()
    await waitUntil('b leads', () => b.isLeader)
    expect(b.term).to.be.greaterThan(term!)
    expect(lost).to.deep.equal([])
  })
})
