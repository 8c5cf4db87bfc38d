import { expect } from 'chai'
import { rejection, timed, uniqueName } from '../test/support/clients'
import { describeWithJava, REDISSON_VERSIONS } from './java-peer'
import { BOTH_WAYS, saysNotHeld } from './support/lock-peer'
import { channelOf, setUpWorld, untilWaiting, type World } from './support/world'

const VERSIONS = [REDISSON_VERSIONS.middle, REDISSON_VERSIONS.last3]

// The oldest and the newest go through everything (interop*.test.ts); those between them through what matters most.
describeWithJava(
  'Redissons in between',
  () => {
    for (const version of VERSIONS)
      describe(`with Redisson ${version}`, () => smokeTests(setUpWorld(version)))
  },
  VERSIONS,
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
