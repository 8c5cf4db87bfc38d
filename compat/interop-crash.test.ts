import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { rejection, timed, uniqueName } from '../test/kit/clients'
import { describeWithJava, REDISSON_VERSIONS, startJavaPeer } from '../test/kit/java'
import { saysNotHeld } from './support/lock-peer'
import { startNodeHolder } from './support/node-holder'
import { channelOf, setUpWorld, untilWaiting, type World } from './support/world'

const VERSIONS = [REDISSON_VERSIONS.oldest, REDISSON_VERSIONS.newest]
const WATCHDOG_MS = 1_200
/** How much later than the end of the lease a waiter may be. */
const MARGIN_MS = 250

describeWithJava(
  'a holder that dies, sleeps or is overrun',
  () => {
    for (const version of VERSIONS) {
      describe(`with Redisson ${version}`, () => {
        crashTests(setUpWorld(version, { lockWatchdogTimeout: WATCHDOG_MS }))
      })
    }
  },
  VERSIONS,
)

function crashTests(world: World): void {
  it('Each side renews its hold for as long as it lives, and the other side sees it', async () => {
    const names = [uniqueName(), uniqueName()] as const
    await Promise.all([world.Java.thread('a').lock(names[0]), world.Node.thread('a').lock(names[1])])
    await sleep(WATCHDOG_MS + 400)
    expect(await world.Node.thread('b').remainTimeToLive(names[0])).to.be.within(500, WATCHDOG_MS)
    expect(await world.Java.thread('b').remainTimeToLive(names[1])).to.be.within(500, WATCHDOG_MS)
    await Promise.all([world.Java.thread('a').unlock(names[0]), world.Node.thread('a').unlock(names[1])])
  })

  it('When a Java process is killed with the lock, Node enters at the end of its lease (A6)', async () => {
    const name = uniqueName()
    const settings = { lockWatchdogTimeout: WATCHDOG_MS }
    const doomed = await startJavaPeer({ version: world.version, redis: world.server.url, settings })
    await doomed.thread('a').lock(name)
    const acquired = world.Node.thread('b').lock(name)
    await untilWaiting(world.redis, channelOf(name))
    await doomed.kill()
    await entersWhenLeaseEnds(name, acquired)
    await world.Node.thread('b').unlock(name)
  })

  it('When a Node process is killed with the lock, Java enters at the end of its lease (A6)', async () => {
    const name = uniqueName()
    const options = { redis: world.server.url, lockWatchdogTimeout: WATCHDOG_MS }
    const doomed = await startNodeHolder({ options, locks: [{ name }] })
    expect(await world.redis.hkeys(name)).to.satisfy(([field]: string[]) =>
      field?.startsWith(doomed.clientId),
    )
    const acquired = world.Java.thread('b').lock(name)
    await untilWaiting(world.redis, channelOf(name))
    await doomed.kill()
    await entersWhenLeaseEnds(name, acquired)
    await world.Java.thread('b').unlock(name)
  })

  it('A Node process stopped past its lease: Java enters, and Node notices the loss', async () => {
    const name = uniqueName()
    const options = { redis: world.server.url, lockWatchdogTimeout: WATCHDOG_MS }
    const sleeper = await startNodeHolder({ options, locks: [{ name }] })
    sleeper.pause()
    try {
      await world.Java.thread('b').lock(name)
      sleeper.resume()
      expect(await sleeper.lost).to.equal('lease')
      // Awake again, and its watchdog with it: Java's hold stays Java's.
      await sleep(WATCHDOG_MS / 2)
      expect(await world.Java.thread('b').getHoldCount(name)).to.equal(1)
      await world.Java.thread('b').unlock(name)
    } finally {
      await sleeper.kill()
    }
  })

  it('A Java process stopped past its lease: Node enters, and Java cannot release', async () => {
    const name = uniqueName()
    const sleeper = world.Java
    await sleeper.thread('a').lock(name)
    sleeper.pause()
    try {
      await world.Node.thread('b').lock(name)
    } finally {
      sleeper.resume()
    }
    expect(await sleeper.thread('a').isHeldByCurrentThread(name)).to.equal(false)
    expect(await rejection(sleeper.thread('a').unlock(name))).to.satisfy(saysNotHeld)
    expect(await world.Node.thread('b').getHoldCount(name)).to.equal(1)
    await world.Node.thread('b').unlock(name)
  })

  it("A forced release ends the other side's watchdog, and the lock stays free", async () => {
    const names = [uniqueName(), uniqueName()] as const
    await Promise.all([world.Java.thread('a').lock(names[0]), world.Node.thread('a').lock(names[1])])
    await Promise.all([
      world.Node.thread('b').forceUnlock(names[0]),
      world.Java.thread('b').forceUnlock(names[1]),
    ])
    await sleep(WATCHDOG_MS * 0.8)
    expect(await world.redis.exists(...names)).to.equal(0)
  })

  async function entersWhenLeaseEnds(name: string, acquired: Promise<unknown>): Promise<void> {
    const remaining = await world.redis.pttl(name)
    expect(remaining).to.be.within(1, WATCHDOG_MS)
    const took = await timed(() => acquired)
    expect(took).to.be.within(remaining - 100, remaining + MARGIN_MS)
  }
}
