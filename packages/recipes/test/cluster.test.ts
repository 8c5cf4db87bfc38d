import { expect } from 'chai'
import type { Redisson } from 'rlock'
import { createRedisson, uniqueName } from '../../../test/kit/clients'
import { sharedCluster, waitUntil } from '../../../test/kit/servers/index'
import { elect, once, takeSlot } from '../src/index'

describe('Recipes in a cluster', () => {
  let clients: readonly [Redisson, Redisson]

  beforeEach(async () => {
    const { nodes } = await sharedCluster()
    const redis = { nodes: nodes.map(({ url }) => url) }
    clients = [await createRedisson({ redis }), await createRedisson({ redis })]
  })

  for (const [tag, nameOf] of [
    ['without braces', () => uniqueName()],
    ['with a hash tag', () => `tenant:{${uniqueName()}}:part`],
  ] as const) {
    it(`Slots whose name is ${tag}: a waiter at another client is woken`, async () => {
      const name = nameOf()
      const [one, other] = clients
      const slot = await takeSlot(one, name, 1)
      const waiting = takeSlot(other, name, 1)
      await waitUntil('it waits', () => other.waiters().length === 1)
      await slot.release()
      expect((await waiting).index).to.equal(0)
    })

    it(`An election whose name is ${tag}: leader, hand-over and observer`, async () => {
      const name = nameOf()
      const [one, other] = clients
      const a = elect(one, name, { label: 'a' })
      await waitUntil('a leads', () => a.isLeader)
      const b = elect(other, name, { label: 'b' })
      await waitUntil('b waits', () => other.waiters().length === 1)
      const seen = b.observe()[Symbol.asyncIterator]()
      expect((await seen.next()).value).to.include({ label: 'a', term: 1 })
      const next = seen.next()
      await a.resign()
      expect((await next).value).to.include({ label: 'b', term: 2 })
    })

    it(`A key that is ${tag}: a waiter at another client gets the value`, async () => {
      const key = nameOf()
      const [one, other] = clients
      let end!: () => void
      const running = once(one, key, () => new Promise<void>((resolve) => (end = resolve)), { keep: 60_000 })
      await waitUntil('it runs', () => end !== undefined)
      const waiting = once(other, key, () => {}, { keep: 60_000 })
      await waitUntil('it waits', () => other.waiters().length === 1)
      end()
      expect(await Promise.all([running, waiting])).to.deep.equal([
        { first: true, value: undefined },
        { first: false, value: undefined },
      ])
    })
  }

  it('The leases of numbers in many slots of a cluster are renewed', async () => {
    const [one] = clients
    const { nodes } = await sharedCluster()
    const redis = { nodes: nodes.map(({ url }) => url) }
    const short = await createRedisson({ redis, lockWatchdogTimeout: 1_000 })
    const names = Array.from({ length: 20 }, () => uniqueName())
    const slots = await Promise.all(names.map((name) => takeSlot(short, name, 1)))
    await new Promise((resolve) => setTimeout(resolve, 2_200))
    expect(slots.filter(({ signal }) => signal.aborted)).to.deep.equal([])
    await Promise.all(slots.map((slot) => slot.release()))
    for (const name of names) expect((await takeSlot(one, name, 1)).index).to.equal(0)
  })
})
