import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import calculateSlot from 'cluster-key-slot'
import { createRedisson, uniqueName } from '../../../test/kit/clients'
import { describeWithJava, startJavaPeer } from '../../../test/kit/java'
import {
  type ClusterSetup,
  needs,
  startCluster,
  waitUntil,
  withClient,
} from '../../../test/kit/servers/index'
import { type Run, seenBy, startWatching, untilSeen, watchedBy } from './cli'

describe('rlock watch in a cluster that publishes sharded', function () {
  this.timeout(60_000)
  let cluster: ClusterSetup
  let urls: string[]

  before(async function () {
    await needs(this, 'sharded pub/sub')
    cluster = await startCluster()
    urls = cluster.nodes.map(({ host, port }) => `redis://${host}:${port}`)
  })
  after(() => cluster?.stop())

  const create = () => createRedisson({ redis: { nodes: urls } })
  const watch = (...args: string[]) => startWatching(['--redis', urls[0]!, '--cluster', ...args])
  const stop = async (run: Run) => expect((await run.interrupt()).code).to.equal(0)
  /** Sends a command to the primary of the name. */
  const atPrimary = async (name: string, ...[command, ...args]: string[]) =>
    withClient(await cluster.ownerOf(calculateSlot(name)), (redis) => redis.call(command!, ...args))
  const untilListens = (name: string, count: number, prefix = 'redisson_lock__channel') =>
    waitUntil('it listens', async () => {
      const answer = await atPrimary(name, 'PUBSUB', 'SHARDNUMSUB', `${prefix}:{${name}}`)
      return (answer as [string, number])[1] === count
    })

  it('rlock watch hears each release while the key is there, and names what it cannot hear', async () => {
    const client = await create()
    const read = client.getReadWriteLock(uniqueName()).readLock()
    const holds = await Promise.all(
      [client.getLock(uniqueName()), read, client.getFairLock(uniqueName())].map((lock) => lock.acquire()),
    )
    const run = await watch('test*')
    expect(watchedBy(run).sources).to.deep.equal(['messages of releases'])
    expect(watchedBy(run).unseen.join()).to.contain('sharded')
    for (const hold of holds) {
      const ofKind = hold.lockName === read.getName() ? 'redisson_rwlock' : 'redisson_lock__channel'
      await untilListens(hold.lockName, 1, ofKind)
      await hold.unlock()
      await untilSeen(run, 'released', hold.lockName)
    }
    await stop(run)
  })

  it('rlock watch without notifications learns the names of locks that are taken later', async () => {
    const run = await watch()
    const hold = await (await create()).getLock(uniqueName()).acquire()
    await untilSeen(run, 'acquired', hold.lockName)
    await untilListens(hold.lockName, 1)
    await hold.unlock()
    await untilSeen(run, 'released', hold.lockName)
    await stop(run)
  })

  it('rlock watch NAME hears a name that has no key yet', async () => {
    const name = uniqueName()
    const client = await create()
    const run = await watch(name)
    await untilListens(name, 1)
    const hold = await client.getLock(name).acquire()
    await hold.unlock()
    await stop(run)
    expect(watchedBy(run).unseen.join()).to.not.contain('sharded')
  })

  it('rlock watch tells a release from a lost hold, and shows fair locks that are handed on', async () => {
    const run = await watch('--enable-notifications')
    const [one, other] = [await create(), await create()]
    const [name, fair] = [uniqueName(), uniqueName()]
    const hold = await one.getLock(name).acquire()
    await untilSeen(run, 'acquired', name)
    await hold.unlock()
    await untilSeen(run, 'released', name)
    const lost = await one.getLock(name).acquire()
    await waitUntil('it is seen', () => seenBy(run, name).length === 3)
    // Longer than it takes to listen.
    await sleep(1_500)
    await atPrimary(name, 'DEL', name)
    await untilSeen(run, 'lost', name)
    await lost.unlock().catch(() => {})

    const before = await one.getFairLock(fair).acquire()
    const waiting = other.getFairLock(fair).acquire()
    await untilSeen(run, 'acquired', fair)
    await waitUntil('it waits', () => other.stats().waiting === 1)
    await before.unlock()
    const next = await waiting
    await waitUntil('the next is seen', () => seenBy(run, fair).some(({ owner }) => owner === next.owner))
    await next.unlock()
    await waitUntil('its end is seen', () => seenBy(run, fair).at(-1)!.event === 'released')
    expect(seenBy(run, fair).map(({ event }) => event)).to.not.include('lost')
    await stop(run)
  })

  it('rlock watch still hears a lock whose slot has moved to another primary', async () => {
    const name = uniqueName()
    const hold = await (await create()).getLock(name).acquire()
    const run = await watch(name)
    const slot = calculateSlot(name)
    const owner = await cluster.ownerOf(slot)
    const to = cluster.nodes.findIndex((node) => node.port !== owner.port)
    await cluster.migrateSlot(slot, to)
    await untilListens(name, 1)
    // A node that does not know of the move yet may lead it back once.
    await sleep(1_500)
    await untilListens(name, 1)
    await hold.unlock()
    await untilSeen(run, 'released', name)
    await stop(run)
  })
})

describeWithJava('rlock watch and Java in a cluster that publishes sharded', function () {
  this.timeout(60_000)

  it("rlock watch shows Java's releases, and calls no silent fair lock lost", async function () {
    await needs(this, 'sharded pub/sub')
    const cluster = await startCluster()
    const { nodes } = cluster
    const addresses = nodes.map(({ host, port }) => `${host}:${port}`)
    const java = await startJavaPeer({ redis: { mode: 'cluster', addresses } })
    try {
      const [name, fair] = [uniqueName(), uniqueName()]
      const run = await startWatching(['--redis', addresses[0]!, '--cluster', '--enable-notifications'])
      await java.thread('a').lock(name)
      await java.thread('a').lock(fair, { type: 'fair' })
      await untilSeen(run, 'acquired', name)
      await untilSeen(run, 'acquired', fair)
      // Longer than it takes until a release would surely be heard.
      await sleep(1_500)
      await java.thread('a').unlock(name)
      await untilSeen(run, 'released', name)
      await java.thread('a').unlock(fair, { type: 'fair' })
      await untilSeen(run, 'gone', fair)
      await run.interrupt()
    } finally {
      await java.kill()
      await cluster.stop()
    }
  })
})
