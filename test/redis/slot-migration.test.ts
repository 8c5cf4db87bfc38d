import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import calculateSlot from 'cluster-key-slot'
import { lockChannel } from '../../src/locks/hash-lock-kind'
import { closeAll, createRedisson, rejection, timed, uniqueName } from '../kit/clients'
import { freshName, name } from '../kit/each-test'
import { eventsOf } from '../kit/observing'
import { SOON, subscribersOn } from '../kit/proves-locking'
import { openProxy } from '../kit/proxies'
import { freshCluster, ownCluster, serverHas, waitUntil, withClient } from '../kit/servers/index'

describe('A slot that migrates', () => {
  freshName()
  const setup = ownCluster()

  const source = () => ({ nodes: setup.nodes.map(({ host, port }) => ({ host, port })) })

  async function move(name: string, beforeSettling?: () => Promise<void>): Promise<number> {
    const slot = calculateSlot(name)
    const target = (setup.nodes.indexOf(await setup.ownerOf(slot)) + 1) % 3
    await setup.migrateSlot(slot, target, beforeSettling)
    return target
  }

  /** How many listen at the node; plain channels are those of the whole cluster. */
  const subscribedAt = async (node: number, name: string) =>
    subscribersOn(
      (await serverHas('sharded pub/sub')) ? [setup.nodes[node]!] : setup.nodes,
      lockChannel(name),
    )

  /** The lock, held by one client, and the acquisition of another one that waits. */
  async function heldAndAwaited() {
    const holder = await createRedisson({ redis: source() })
    const other = await createRedisson({ redis: source() })
    const held = await holder.getLock(name).acquire()
    const waiting = other.getLock(name).acquire()
    await waitUntil(
      'the waiter is subscribed',
      async () => (await subscribersOn(setup.nodes, lockChannel(name))) === 1,
    )
    return { held, waiting }
  }

  // The holder releases only once the new node knows the waiter, so only its message can wake it.
  it('Waiters for a lock whose slot migrated subscribe at its new node and are woken there (D3)', async () => {
    const { held, waiting } = await heldAndAwaited()
    for (let times = 0; times < 2; times++) {
      const target = await move(name)
      await waitUntil('it is subscribed anew', async () => (await subscribedAt(target, name)) === 1)
    }
    const took = await timed(async () => {
      await held.unlock()
      await (await waiting).unlock()
    })
    expect(took).to.be.below(SOON)
  })

  it('Locks of a half migrated slot are renewed one by one because of TRYAGAIN (V199)', async () => {
    const redisson = await createRedisson({
      redis: source(),
      lockWatchdogTimeout: 9_000,
      // Longer than ioredis tries by itself.
      unavailableAfter: 3_000,
    })
    redisson.on('error', () => {})
    const prefix = uniqueName('half')
    const names = [1, 2, 3].map((index) => `{${prefix}}:${index}`)
    const holds = await Promise.all(names.map((name) => redisson.getLock(name).acquire()))
    const slot = calculateSlot(names[0]!)
    const from = await setup.ownerOf(slot)
    const to = setup.nodes[(setup.nodes.indexOf(from) + 1) % 3]!
    const ask = (node: typeof from, ...words: (string | number)[]) =>
      withClient(node, (client) => client.call(...(words as [string])))
    await ask(to, 'CLUSTER', 'SETSLOT', slot, 'IMPORTING', String(await ask(from, 'CLUSTER', 'MYID')))
    await ask(from, 'CLUSTER', 'SETSLOT', slot, 'MIGRATING', String(await ask(to, 'CLUSTER', 'MYID')))
    await ask(from, 'MIGRATE', to.host, to.port, '', 0, 5_000, 'KEYS', names[0]!)
    await sleep(12_000)
    expect(holds.map(({ isHeld }) => isHeld)).to.deep.equal([true, true, true])
    await move(names[0]!)
    await Promise.all(holds.map((hold) => hold.unlock()))
  })

  it("No latch waiter goes on by an older message of the slot's former node (V87)", async function () {
    if (!(await serverHas('sharded pub/sub'))) return this.skip()
    const channelOf = (name: string) => `redisson_countdownlatch__channel__{${name}}`
    const prefix = uniqueName('latch')
    const name = `${prefix}:0`
    const from = await setup.ownerOf(calculateSlot(name))
    // Its channel keeps the connection to the old node open.
    const another = async (isWanted: (owner: unknown) => boolean) => {
      for (let i = 1; ; i++)
        if (isWanted(await setup.ownerOf(calculateSlot(`${prefix}:${i}`)))) return `${prefix}:${i}`
    }
    const beside = await another((owner) => owner === from)
    // It moves between the two nodes that answer.
    const moving = setup.nodes[(setup.nodes.indexOf(from) + 1) % 3]
    const elsewhere = await another((owner) => owner === moving)
    const proxy = await openProxy(from)
    const natMap = { [`${from.host}:${from.port}`]: { host: proxy.host, port: proxy.port } }
    const redisson = await createRedisson({ redis: { ...source(), options: { natMap } } })
    const other = (await createRedisson({ redis: source() })).getCountDownLatch(name)
    const latch = redisson.getCountDownLatch(name)
    await other.trySetCount(1)
    await redisson.getCountDownLatch(beside).trySetCount(1)
    const first = latch.await()
    const kept = redisson.getCountDownLatch(beside).await({ waitTime: 60_000 })
    kept.catch(() => {})
    for (const each of [name, beside])
      await waitUntil('it listens', async () => (await subscribersOn([from], channelOf(each))) === 1)
    proxy.stallReplies()
    await other.countDown()
    const target = await move(name)
    // Its node answers that this one has moved: so the client reads the map of slots.
    await move(elsewhere)
    await redisson
      .getLock(elsewhere)
      .tryLock()
      .catch(() => {})
    // It asks the new node, and learns that its latch has opened.
    await first
    await other.trySetCount(1)
    const second = latch.await({ waitTime: 1_500 })
    await waitUntil('the next one listens at the new node', async () => {
      return (await subscribersOn([setup.nodes[target]!], channelOf(name))) === 1
    })
    proxy.resume()
    expect(await second).to.equal(false)
    await redisson.getCountDownLatch(beside).countDown()
    expect(await kept).to.equal(true)
  })

  it('Redirects of a migrated slot are followed by the natMap, also on replica-ack connections', async () => {
    const proxies = await Promise.all(setup.nodes.map((node) => openProxy(node)))
    const reached = proxies.map(({ host, port }) => ({ host, port }))
    const natMap = Object.fromEntries(
      setup.nodes.map(({ host, port }, i) => [`${host}:${port}`, reached[i]!]),
    )
    const redisson = await createRedisson({ redis: { nodes: reached, options: { natMap } } })
    const opened = new Set<string>()
    // Nothing of this is public; a way past the proxies shows nowhere else.
    const { client } = redisson as unknown as {
      client: { connections: { transport: { senders: Map<string, unknown> } } }
    }
    await move(name, async () => {
      await redisson.getLock(name).withLock(() => {})
      for (const node of client.connections.transport.senders.keys()) opened.add(node)
    })
    expect(opened.size).to.be.greaterThan(0)
    expect(reached.map(({ host, port }) => `${host}:${port}`)).to.include.members([...opened])
  })

  it('Waiters on other slots of the node of a migrated slot stay subscribed', async () => {
    const holder = await createRedisson({ redis: source() })
    const other = await createRedisson({ redis: source() })
    const moving = uniqueName('{goes}')
    const owner = setup.nodes.indexOf(await setup.ownerOf(calculateSlot(moving)))
    let staying = uniqueName()
    while (
      setup.nodes.indexOf(await setup.ownerOf(calculateSlot(staying))) !== owner ||
      calculateSlot(staying) === calculateSlot(moving)
    )
      staying = uniqueName()
    const names = [moving, staying]
    const holds = await Promise.all(names.map((name) => holder.getLock(name).acquire()))
    const waiting = names.map((name) => other.getLock(name).acquire())
    for (const name of names)
      await waitUntil('it is subscribed', async () => (await subscribedAt(owner, name)) === 1)
    const target = await move(moving)
    await waitUntil('one moved', async () => (await subscribedAt(target, moving)) === 1)
    await waitUntil('one stayed', async () => (await subscribedAt(owner, staying)) === 1)
    const took = await timed(async () => {
      await Promise.all(holds.map((hold) => hold.unlock()))
      await Promise.all(waiting)
    })
    expect(took).to.be.below(SOON)
  })

  it('A release right after a slot migrated, before a client knows of it, wakes the waiter', async () => {
    const { held, waiting } = await heldAndAwaited()
    const took = await timed(async () => {
      await move(name)
      await held.unlock()
      await waiting
    })
    expect(took).to.be.below(SOON)
  })

  it('Locks work over ASK and MOVED, and are renewed', async () => {
    const redisson = await createRedisson({ redis: source(), lockWatchdogTimeout: 3_000 })
    const lost = eventsOf(redisson, 'lockLost')
    const held = await redisson.getLock(name).acquire()
    let target = await move(name, async () => {
      // The key has moved and the slot has not: the source answers ASK.
      expect(await redisson.getLock(name).isLocked()).to.equal(true)
      expect(await redisson.getLock(name).tryLock()).to.equal(false)
      await redisson.getLock(`${name} new`).withLock(() => {})
    })
    target = await move(name)
    // A moment, and no time to live: one that was read right after a renewal may never be exceeded.
    const end = () =>
      withClient(setup.nodes[target]!, async (client) => (await client.pttl(name)) + performance.now())
    const before = await end()
    await waitUntil('it is renewed at its new node', async () => (await end()) > before + 500)
    await held.unlock()
    expect(lost).to.deep.equal([])
  })

  // ioredis drops the promise of the ASKING it sends; unheard of, it would end the process.
  it('A call for a slot whose new node is gone rejects, and no rejection is unhandled', async () => {
    const own = await freshCluster()
    const unheard: unknown[] = []
    const note = (error: unknown) => unheard.push(error)
    process.on('unhandledRejection', note)
    try {
      const nodes = own.nodes.map(({ host, port }) => ({ host, port }))
      const redisson = await createRedisson({ redis: { nodes } }, { unavailableAfter: 1_000 })
      const lock = redisson.getLock(uniqueName())
      expect(await lock.isLocked()).to.equal(false)
      const slot = calculateSlot(lock.getName())
      const source = await own.ownerOf(slot)
      const target = own.nodes.find((node) => node !== source)!
      const call = (node: typeof source, ...words: string[]) =>
        withClient(node, (client) => client.call('CLUSTER', ...words))
      await call(target, 'SETSLOT', String(slot), 'IMPORTING', (await call(source, 'MYID')) as string)
      await call(source, 'SETSLOT', String(slot), 'MIGRATING', (await call(target, 'MYID')) as string)
      await target.kill()
      expect((await rejection(lock.isLocked())).code).to.equal('REDIS_UNAVAILABLE')
      await new Promise(setImmediate)
      expect(unheard).to.deep.equal([])
    } finally {
      process.off('unhandledRejection', note)
      await closeAll()
      await own.stop()
    }
  })
})
