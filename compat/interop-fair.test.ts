import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { rejection, timed, uniqueName } from '../test/kit/clients'
import { ForeignFairLock } from '../test/kit/foreign-fair-lock'
import { describeWithJava, REDISSON_VERSIONS, startJavaPeer } from '../test/kit/java'
import { Program } from '../test/kit/program'
import { waitUntil } from '../test/kit/servers/index'
import { BOTH_WAYS, FAIR, type LockThread } from './support/lock-peer'
import { NodePeer } from './support/node-peer'
import { setUpWorld, type World } from './support/world'

const { oldest, middle, last3, newest } = REDISSON_VERSIONS
const VERSIONS = [oldest, middle, last3, newest]
const WATCHDOG_MS = 1_200
/** How long a place of a Node waiter outlives its process. */
const ALLOWANCE = 5_000
/** A waiter that is inside by then was notified. */
const NOTIFIED = 600

/** The queue of a fair lock, as it is in Redis. */
function queueOf(world: World, name: string) {
  const queue = new ForeignFairLock(world.redis, name)
  const length = (places: number) =>
    waitUntil(`${places} wait`, async () => (await queue.places()).length === places, undefined, 5)
  return {
    queue,
    /** How many keys there are, apart from the latches that a Java peer may keep for a while. */
    left: () => world.redis.exists(name, queue.queue, queue.timeouts),
    length,
    /** Begins to wait for the lock, and resolves once it has its place and has gone to sleep. */
    async joined<T>(join: () => Promise<T>): Promise<{ acquired: Promise<T> }> {
      const before = (await queue.places()).length
      const acquired = join()
      acquired.catch(() => {})
      await length(before + 1)
      const owner = (await queue.places()).at(-1)!
      await waitUntil('it listens', async () => {
        const [, count] = (await world.redis.pubsub('NUMSUB', queue.channelOf(owner))) as [string, number]
        return Number(count) > 0
      })
      await sleep(40)
      return { acquired }
    },
  }
}

describeWithJava(
  'a fair lock',
  () => {
    for (const version of VERSIONS)
      describe(`with Redisson ${version}`, () => {
        const world = setUpWorld(version, { lockWatchdogTimeout: WATCHDOG_MS })
        fairTests(world)
        if (version === newest) newestTests(world)
      })
    for (const version of [middle, newest])
      describe(`with Redisson ${version} and a name mapper`, () => mappedTests(version))
  },
  VERSIONS,
)

function fairTests(world: World): void {
  for (const [holder, other] of BOTH_WAYS)
    it(`${holder} holds, re-enters and releases a fair lock; ${other} queues and is notified`, async () => {
      const name = uniqueName()
      const [holding, waiting] = [world[holder].thread('a'), world[other].thread('b')]
      await holding.lock(name, FAIR)
      await holding.lock(name, FAIR)
      expect(await waiting.tryLock(name, FAIR)).to.equal(false)
      const { acquired } = await queueOf(world, name).joined((): Promise<unknown> => waiting.lock(name, FAIR))
      expect(await holding.getHoldCount(name, FAIR)).to.equal(2)
      await holding.unlock(name, FAIR)
      await holding.unlock(name, FAIR)
      expect(await timed(() => acquired)).to.be.below(NOTIFIED)
      await waiting.unlock(name, FAIR)
      expect(await queueOf(world, name).left()).to.equal(0)
    })

  it('Node and Java waiters of three clients enter a fair lock in order (E11)', async () => {
    const name = uniqueName()
    const second = await NodePeer.start({ redis: world.server.url, lockWatchdogTimeout: WATCHDOG_MS })
    try {
      const { joined } = queueOf(world, name)
      const first = world.Node.thread('first')
      await first.lock(name, FAIR)
      const entered: string[] = []
      const peers = { j: world.Java, n: world.Node, o: second }
      const order = [...'jnojnnojon'].map((who, index) => `${who}${index}`)
      const all: Promise<unknown>[] = []
      for (const who of order) {
        const thread: LockThread = peers[who[0] as keyof typeof peers].thread(who)
        const { acquired } = await joined(() => thread.lock(name, FAIR))
        all.push(
          acquired.then(async () => {
            entered.push(who)
            await thread.unlock(name, FAIR)
          }),
        )
      }
      await first.unlock(name, FAIR)
      await Promise.all(all)
      expect(entered).to.deep.equal(order)
      expect(await queueOf(world, name).left()).to.equal(0)
    } finally {
      await second.shutdown()
    }
  })

  it('A Node waiter that leaves a free fair lock notifies the Java waiter behind it (E4)', async () => {
    const name = uniqueName()
    const { queue, joined } = queueOf(world, name)
    await queue.take(60_000, 99)
    const leaving = await joined(() => world.Node.thread('a').tryLock(name, { ...FAIR, waitTime: 600 }))
    const { acquired } = await joined(() => world.Java.thread('b').lock(name, FAIR))
    // Free, and no message: its head leaves before it looks again.
    await queue.vanish()
    const took = timed(() => acquired)
    await leaving.acquired
    expect(await took).to.be.below(600 + NOTIFIED)
    await world.Java.thread('b').unlock(name, FAIR)
  })

  it('Java goes on with a queue that Node has healed (E9)', async () => {
    const name = uniqueName()
    const { queue } = queueOf(world, name)
    await queue.take(60_000, 99)
    await queue.enter(98, 300_000)
    await world.redis.del(queue.timeouts)
    expect(await world.Node.thread('a').tryLock(name, FAIR)).to.equal(false)
    expect(await world.Java.thread('b').tryLock(name, { ...FAIR, waitTime: 50 })).to.equal(false)
    expect(await queue.places()).to.deep.equal([queue.owner(98)])
    await queue.leave(98, 0)
    await queue.vanish()
    await world.Java.thread('b').lock(name, FAIR)
    await world.Java.thread('b').unlock(name, FAIR)
  })
}

function newestTests(world: World): void {
  it('A Node process killed in a fair queue delays Java by its allowance only (E1)', async () => {
    const name = uniqueName()
    const { joined, length } = queueOf(world, name)
    await world.Java.thread('a').lock(name, FAIR)
    const doomed = new Program('queue-fair.ts', world.server.url, name)
    await length(1)
    const { acquired } = await joined(() => world.Java.thread('b').lock(name, FAIR))
    const behind = await joined(() => world.Node.thread('c').lock(name, FAIR))
    doomed.kill()
    await doomed.exit
    await world.Java.thread('a').unlock(name, FAIR)
    expect(await timed(() => acquired)).to.be.below(ALLOWANCE + 1_000)
    await world.Java.thread('b').unlock(name, FAIR)
    expect(await timed(() => behind.acquired)).to.be.below(NOTIFIED)
    await world.Node.thread('c').unlock(name, FAIR)
  })

  it('A Java process killed in a fair queue delays Node by its own wait (E1)', async () => {
    const name = uniqueName()
    const { joined } = queueOf(world, name)
    const settings = { lockWatchdogTimeout: WATCHDOG_MS }
    const doomed = await startJavaPeer({ version: world.version, redis: world.server.url, settings })
    await world.Node.thread('a').lock(name, FAIR)
    await joined(() => doomed.thread('b').tryLock(name, { ...FAIR, waitTime: 2_000 }))
    const { acquired } = await joined(() => world.Node.thread('c').lock(name, FAIR))
    await doomed.kill()
    await world.Node.thread('a').unlock(name, FAIR)
    expect(await timed(() => acquired)).to.be.below(2_000 + WATCHDOG_MS + 1_000)
    await world.Node.thread('c').unlock(name, FAIR)
  })

  for (const [holder, other] of BOTH_WAYS)
    it(`${holder} holds a non-reentrant fair lock, is refused again; ${other} queues`, async () => {
      const name = uniqueName()
      const choice = { type: 'non-reentrant-fair' } as const
      const [holding, waiting] = [world[holder].thread('a'), world[other].thread('b')]
      await holding.lock(name, choice)
      for (const again of [() => holding.lock(name, choice), () => holding.tryLock(name, choice)])
        expect(await rejection(again())).to.satisfy(
          ({ javaClass, code }: { javaClass?: string; code?: string }) =>
            javaClass === 'java.lang.IllegalMonitorStateException' || code === 'ILLEGAL_MONITOR_STATE',
        )
      const { acquired } = await queueOf(world, name).joined(
        (): Promise<unknown> => waiting.lock(name, choice),
      )
      await holding.unlock(name, choice)
      expect(await timed(() => acquired)).to.be.below(NOTIFIED)
      await waiting.unlock(name, choice)
    })
}

/** Facts of versions: before 3.52.0 the queue is under the name that was not mapped. */
function mappedTests(version: string): void {
  const world = setUpWorld(version, { lockWatchdogTimeout: WATCHDOG_MS, namePrefix: 'mapped:' })

  it(`Java and Node exclude each other under a mapped name, in ${version === middle ? 'two queues' : 'one queue'} (E12)`, async () => {
    const name = uniqueName()
    const mapped = queueOf(world, `mapped:${name}`).queue
    const unmapped = queueOf(world, name).queue
    await mapped.take(1_500, 99)
    const threads = [world.Java.thread('a'), world.Node.thread('b')]
    const entering = threads.map(async (thread) => {
      // In a queue of its own no release notifies Java, and before 3.32.0 it then sleeps for all of its wait.
      if (!(await thread.tryLock(name, { ...FAIR, waitTime: 4_000 }))) return false
      expect(await world.redis.hlen(mapped.name)).to.equal(1)
      await sleep(50)
      await thread.unlock(name, FAIR)
      return true
    })
    const theirs = version === middle ? unmapped : mapped
    await waitUntil('both wait', async () => {
      const places = new Set([...(await mapped.places()), ...(await theirs.places())])
      return places.size === 2
    })
    expect(await mapped.places()).to.have.length(version === middle ? 1 : 2)
    const [java, node] = await Promise.all(entering)
    expect(node).to.equal(true)
    if (version === newest) expect(java).to.equal(true)
  })
}
