import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { rejection, uniqueName } from '../test/kit/clients'
import { REDISSON_VERSIONS } from '../test/kit/java'
import { crashTests } from './interop/crash'
import { renewalTests } from './interop/renewal'
import { type ObjectChoice, READ, saysNotHeld, WRITE } from './support/lock-peer'
import { startNodeHolder } from './support/node-holder'
import { describeWorlds, type World } from './support/world'

const { oldest, newest } = REDISSON_VERSIONS
const WATCHDOG_MS = 1_200
/** What is held, and what keeps out: a plain lock, and both sides of a read-write lock. */
const HELD: readonly (readonly [held: ObjectChoice, wanted: ObjectChoice])[] = [
  [{}, {}],
  [READ, WRITE],
  [WRITE, READ],
]

describeWorlds(
  'a holder that lives, dies or sleeps',
  [oldest, newest],
  { lockWatchdogTimeout: WATCHDOG_MS, readWrite: true },
  (world) => {
    describe('renewal', () => renewalTests(world, WATCHDOG_MS))
    describe('death', () => crashTests(world, WATCHDOG_MS))
    describe('sleep', () => sleepTests(world))
  },
)

function sleepTests(world: World): void {
  for (const [held, wanted] of HELD.slice(0, 2))
    it(`A Node process stopped past its lease of a ${held.type ?? 'plain'} lock: Java enters, Node notices`, async () => {
      const name = uniqueName()
      const options = { redis: world.server.url, lockWatchdogTimeout: WATCHDOG_MS }
      const sleeper = await startNodeHolder({ options, locks: [{ name, ...held }] })
      sleeper.pause()
      try {
        await world.Java.thread('b').lock(name, wanted)
        sleeper.resume()
        expect(await sleeper.lost).to.equal('lease')
        // Awake again, and its watchdog with it: Java's hold stays Java's.
        await sleep(WATCHDOG_MS / 2)
        expect(await world.Java.thread('b').getHoldCount(name, wanted)).to.equal(1)
        await world.Java.thread('b').unlock(name, wanted)
      } finally {
        await sleeper.kill()
      }
    })

  it('A Java process stopped past its leases: Node enters, and Java cannot release', async () => {
    const [java, node] = [world.Java.thread('a'), world.Node.thread('b')]
    const locks = HELD.map(([held, wanted]) => ({ name: uniqueName(), held, wanted }))
    for (const { name, held } of locks) await java.lock(name, held)
    world.Java.pause()
    try {
      for (const { name, wanted } of locks) await node.lock(name, wanted)
    } finally {
      world.Java.resume()
    }
    for (const { name, held, wanted } of locks) {
      expect(await java.isHeldByCurrentThread(name, held)).to.equal(false)
      expect(await rejection(java.unlock(name, held))).to.satisfy(saysNotHeld)
      expect(await node.getHoldCount(name, wanted)).to.equal(1)
      await node.unlock(name, wanted)
    }
  })
}
