import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { rejection, uniqueName } from '../test/kit/clients'
import { describeWithJava, REDISSON_VERSIONS } from '../test/kit/java'
import { crashTests } from './interop/read-write-crash'
import { readWriteRenewalTests } from './interop/read-write-renewal'
import { READ, saysNotHeld, WRITE } from './support/lock-peer'
import { startNodeHolder } from './support/node-holder'
import { setUpWorld, type World } from './support/world'

const VERSIONS = [REDISSON_VERSIONS.oldest, REDISSON_VERSIONS.newest]
const WATCHDOG_MS = 1_200

describeWithJava(
  'a reader or writer that lives, dies or sleeps',
  () => {
    for (const version of VERSIONS) {
      describe(`with Redisson ${version}`, () => {
        const world = setUpWorld(version, { lockWatchdogTimeout: WATCHDOG_MS, readWrite: true })
        describe('renewal', () => readWriteRenewalTests(world, WATCHDOG_MS))
        describe('death', () => crashTests(world, WATCHDOG_MS))
        describe('sleep', () => sleepTests(world))
      })
    }
  },
  VERSIONS,
)

function sleepTests(world: World): void {
  it('A Node reader stopped past its lease: a Java writer enters, the reader notices', async () => {
    const name = uniqueName()
    const options = { redis: world.server.url, lockWatchdogTimeout: WATCHDOG_MS }
    const sleeper = await startNodeHolder({ options, locks: [{ name, ...READ }] })
    sleeper.pause()
    try {
      await world.Java.thread('b').lock(name, WRITE)
      sleeper.resume()
      expect(await sleeper.lost).to.equal('lease')
      // Awake again, and its watchdog with it: Java's hold stays Java's.
      await sleep(WATCHDOG_MS / 2)
      expect(await world.Java.thread('b').getHoldCount(name, WRITE)).to.equal(1)
      expect(await world.redis.hlen(name)).to.equal(2)
      await world.Java.thread('b').unlock(name, WRITE)
    } finally {
      await sleeper.kill()
    }
  })

  it('A Java process stopped past its leases: Node enters, and Java cannot release', async () => {
    const [read, written] = [uniqueName(), uniqueName()]
    const [java, node] = [world.Java.thread('a'), world.Node.thread('b')]
    await java.lock(read, READ)
    await java.lock(written, WRITE)
    world.Java.pause()
    try {
      await node.lock(read, WRITE)
      await node.lock(written, READ)
    } finally {
      world.Java.resume()
    }
    expect(await rejection(java.unlock(read, READ))).to.satisfy(saysNotHeld)
    expect(await rejection(java.unlock(written, WRITE))).to.satisfy(saysNotHeld)
    expect(await node.getHoldCount(read, WRITE)).to.equal(1)
    expect(await node.getHoldCount(written, READ)).to.equal(1)
    await node.unlock(read, WRITE)
    await node.unlock(written, READ)
  })
}
