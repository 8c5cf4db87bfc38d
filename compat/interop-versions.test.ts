import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { rejection, timed, uniqueName } from '../test/kit/clients'
import { REDISSON_VERSIONS } from '../test/kit/java'
import { lockKindTests } from './interop/lock-kinds'
import { BOTH_WAYS, READ, saysNotHeld, WRITE } from './support/lock-peer'
import { channelOf, describeWorlds, untilAsleep, untilWaiting, type World } from './support/world'

const { middle, last3 } = REDISSON_VERSIONS
const WATCHDOG_MS = 1_500

// The oldest and the newest go through everything (interop*.test.ts); those between them through what matters most.
describeWorlds(
  'Redissons in between',
  [middle, last3],
  { lockWatchdogTimeout: WATCHDOG_MS, readWrite: true },
  (world) => {
    smokeTests(world)
    readWriteSmokeTests(world)
    lockKindTests(world)
    readWriteQuirkTests(world)
  },
)

function smokeTests(world: World): void {
  for (const [holder, other] of BOTH_WAYS) {
    it(`${holder} holds, re-enters and releases; ${other} waits and is woken`, async () => {
      const name = uniqueName()
      const [holding, waiting] = [world[holder].thread('a'), world[other].thread('b')]
      await holding.lock(name)
      await holding.lock(name)
      expect(await waiting.isLocked(name)).to.equal(true)
      expect(await waiting.tryLock(name)).to.equal(false)
      expect(await holding.getHoldCount(name)).to.equal(2)
      expect(await rejection(waiting.unlock(name))).to.satisfy(saysNotHeld)
      const acquired = waiting.lock(name, { leaseTime: 10_000 })
      await untilWaiting(world.redis, channelOf(name))
      await holding.unlock(name)
      expect(await timed(() => Promise.all([holding.unlock(name), acquired]))).to.be.below(250)
      expect(await holding.remainTimeToLive(name)).to.be.within(9_500, 10_000)
      expect(await holding.forceUnlock(name)).to.equal(true)
      expect(await rejection(waiting.unlock(name))).to.satisfy(saysNotHeld)
      expect(await world.redis.exists(name)).to.equal(0)
    })
  }
}

function readWriteSmokeTests(world: World): void {
  for (const [holder, other] of BOTH_WAYS) {
    it(`${holder} reads, writes and steps down; ${other} waits for it and is woken`, async () => {
      const name = uniqueName()
      const [holding, waiting] = [world[holder].thread('a'), world[other].thread('b')]
      const woken = async (held: typeof READ | typeof WRITE, wanted: typeof READ | typeof WRITE) => {
        const acquired = waiting.lock(name, wanted)
        await untilAsleep(world.redis, name)
        expect(await timed(() => Promise.all([holding.unlock(name, held), acquired]))).to.be.below(250)
        await waiting.unlock(name, wanted)
      }
      await holding.lock(name, WRITE)
      await woken(WRITE, READ)
      await holding.lock(name, WRITE)
      expect(await waiting.tryLock(name, READ)).to.equal(false)
      await holding.lock(name, READ)
      await holding.unlock(name, WRITE)
      expect(await waiting.tryLock(name, WRITE)).to.equal(false)
      expect(await waiting.tryLock(name, READ)).to.equal(true)
      await waiting.unlock(name, READ)
      await woken(READ, WRITE)
      expect(await world.redis.exists(name)).to.equal(0)
    })
  }
}

/** Facts of these versions, and no promise of ours. */
function readWriteQuirkTests(world: World): void {
  it('Java on a side that is not held: 3.27.2 releases it in silence, 3.52.0 says so', async () => {
    for (const side of [READ, WRITE]) {
      const releasing = world.Java.thread('a').unlock(uniqueName(), side)
      if (world.version === middle) await releasing
      else expect(await rejection(releasing)).to.satisfy(saysNotHeld)
    }
  })

  it('Two levels of a reader: Java 3.52.0 renews other clocks, and any release ends it', async () => {
    const name = uniqueName()
    const [java, node] = [world.Java.thread('a'), world.Node.thread('b')]
    await java.lock(name, READ)
    await java.lock(name, READ)
    await node.lock(name, READ)
    await sleep(WATCHDOG_MS + 300)
    const itsClocks = await world.redis.keys(`{${name}}:${world.Java.clientId}:*:rwlock_timeout:*`)
    await node.unlock(name, READ)
    const stillReads = await java.isHeldByCurrentThread(name, READ)
    expect([itsClocks.length, stillReads]).to.deep.equal(world.version === last3 ? [0, false] : [2, true])
    await world.redis.del(name)
  })
}
