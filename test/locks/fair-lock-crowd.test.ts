import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { createRedisson, rejection, timed } from '../kit/clients'
import { keptBy } from '../kit/left-in'
import { waitUntil } from '../kit/servers/index'
import { tapped } from '../kit/tapped-transport'
import { fairScene } from './fair-scene'

const CROWD = 5_000
const SERVED = 200

describe('A crowd before a fair lock', () => {
  const scene = fairScene()

  it('5,000 waiters of a process have a place each, only refresh, and enter in order (E11)', async function () {
    this.timeout(240_000)
    // A process that gets little of its cores takes longer for 5,000 first tries than a call may wait by default.
    const redisson = await createRedisson({ redis: scene.server.url }, { unavailableAfter: 30_000 })
    const lock = scene.lockOf(redisson)
    await scene.java.take()
    const entered: number[] = []
    const leaving = new AbortController()
    const { signal } = leaving
    const crowd = Array.from({ length: CROWD }, async (_, number) => {
      const hold = await lock.acquire(number < SERVED ? {} : { signal })
      entered.push(number)
      await hold.unlock()
    })
    const settled = Promise.allSettled(crowd)
    await waitUntil('all have a place', async () => (await scene.length()) === CROWD, 90_000)
    await waitUntil('all listen', () => keptBy(redisson).channels === CROWD, 90_000)
    const isQuiet = async () => {
      const before = await scene.scripts()
      await sleep(500)
      return (await scene.scripts()) - before <= 3
    }
    await waitUntil('all have looked once more', isQuiet, 60_000)
    const before = await scene.scripts()
    await sleep(1_700)
    // Three calls refresh 5,000 places.
    expect((await scene.scripts()) - before, 'scripts meanwhile').to.be.at.most(6)
    const shortest = Math.min(...(await scene.java.allowances()))
    expect(shortest, 'each is refreshed').to.be.greaterThan(1_000)
    await scene.java.release()
    await waitUntil('some are served', () => entered.length >= SERVED, 60_000, 2)
    leaving.abort(new Error('enough'))
    await settled
    expect(entered.slice(0, SERVED)).to.deep.equal(Array.from({ length: SERVED }, (_, number) => number))
    expect(await timed(() => scene.nothingIsLeft())).to.be.lessThan(5_000)
    await waitUntil('nothing is kept', () => keptBy(redisson).queues === 0)
  })
})

describe('A non-reentrant fair lock', () => {
  const scene = fairScene()

  it('A non-reentrant fair lock refuses its holder, which the fair lock lets re-enter', async () => {
    const redisson = await scene.open()
    const lock = redisson.getNonReentrantFairLock(scene.name)
    const another = redisson.getNonReentrantFairLock(scene.name)
    await redisson.run(async () => {
      await lock.lock()
      for (const again of [() => lock.lock(), () => another.tryLock(), () => lock.tryLock(1_000)]) {
        const error = await rejection(again())
        expect(error).to.have.property('code', 'ILLEGAL_MONITOR_STATE')
        expect(error.message).to.contain(scene.name).and.to.contain(redisson.getId())
      }
      expect(await lock.getHoldCount()).to.equal(1)
      await scene.lockOf(redisson).lock()
      expect(await lock.getHoldCount()).to.equal(2)
      await lock.unlock()
      await lock.unlock()
    })
    await scene.nothingIsLeft()
  })

  it('Callers of a non-reentrant fair lock queue; a second copy is no re-entry (N1)', async () => {
    const transport = tapped(async (sent) => {
      if (sent.name === 'fair-lock/acquire') await sent.pass()
      return await sent.pass()
    })
    const redisson = await scene.open({ transport })
    const lock = redisson.getNonReentrantFairLock(scene.name)
    const first = await lock.acquire()
    const second = lock.acquire()
    await waitUntil('it queues', async () => (await scene.length()) === 1)
    await first.unlock()
    await (await second).unlock()
    await scene.nothingIsLeft()
  })
})
