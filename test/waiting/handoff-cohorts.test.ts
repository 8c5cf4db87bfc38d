import { expect } from 'chai'
import { MAX_COHORT_DURATION, MAX_LOCAL_HANDOFFS } from '../../src/waiting/cohort'
import { createRedisson, uniqueName } from '../kit/clients'
import { HandoffScene } from '../kit/handoff-scene'
import { waitUntil } from '../kit/servers/index'

describe('Cohorts of processes that hand a lock on', () => {
  let scene: HandoffScene
  let ended: boolean

  beforeEach(async () => {
    ended = false
    scene = await HandoffScene.open()
  })

  /** Callers that want the lock again as soon as they have had it, until the test has seen enough. */
  const callers = (count: number, inside: (caller: number) => void) =>
    Array.from({ length: count }, async (_, caller) => {
      while (!ended) {
        const hold = await scene.lock.acquire()
        inside(caller)
        await hold.unlock()
      }
    })

  /** How often it was handed off in each cohort that has ended. */
  const cohorts = () =>
    scene.sent
      .filter((name) => name === 'lock/handoff' || name === 'lock/release')
      .join()
      .split('lock/release')
      .slice(0, -1)
      .map((cohort) => cohort.split('handoff').length - 1)

  it('A cohort ends in time though no other waiter is known, and the next one begins at once', async () => {
    const order: number[] = []
    const all = callers(3, (caller) => order.push(caller))
    await scene.asleep(3)
    await scene.foreign.release()
    await waitUntil('it goes round', () => scene.sent.length > 100)
    expect(cohorts()).to.deep.equal([])
    scene.clock.advance(MAX_COHORT_DURATION)
    await waitUntil('a cohort has ended', () => cohorts().length === 1)
    // No time passes here, so no process could have yielded.
    const soFar = order.length
    await waitUntil('it goes on', () => order.length > soFar + 100)
    ended = true
    await Promise.all(all)
    for (const [index, caller] of order.entries()) expect(caller).to.equal(index % 3)
  })

  it('A cohort has few handoffs while another client waits, which acquires after each', async () => {
    const ours: number[] = []
    const all = callers(8, (caller) => ours.push(caller))
    const theirs = (await createRedisson()).getLock(scene.name)
    /** How many of ours had been in when they came in. */
    const seen: number[] = []
    const other = (async () => {
      while (!ended)
        await theirs.withLock(() => {
          seen.push(ours.length)
        })
    })()
    await scene.asleep(8)
    await waitUntil('both clients listen', async () => (await scene.foreign.listeners()) === 2)
    await scene.foreign.release()
    // That others wait is known from the end of the first cohort on.
    await waitUntil('the first cohort is under way', () => ours.length > 0)
    scene.clock.advance(MAX_COHORT_DURATION)
    await waitUntil('many cohorts are over', () => {
      // Where the other does not come in time, we go on.
      scene.clock.advance(1)
      return cohorts().length > 30
    })
    ended = true
    const later = cohorts().slice(1)
    await Promise.all([...all, other])
    for (const cohort of later) expect(cohort).to.be.at.most(MAX_LOCAL_HANDOFFS)
    expect(later.length).to.be.greaterThan(20)
    const served = new Set(seen.filter((count) => count > 0))
    expect(served.size).to.be.greaterThan(later.length / 2)
    for (const [index, caller] of ours.slice(0, -8).entries()) expect(caller).to.equal(index % 8)
  })

  it('Cohorts alternate among clients that all want the lock again at once', async () => {
    const CLIENTS = 3
    const name = uniqueName()
    const locks = (await Promise.all(Array.from({ length: CLIENTS }, () => createRedisson()))).map((client) =>
      client.getLock(name),
    )
    /** Which client had each cohort. */
    const had: number[] = []
    const callers = locks.flatMap((lock, client) =>
      Array.from({ length: 4 }, async () => {
        while (!ended)
          await lock.withLock(() => {
            if (had.at(-1) !== client) had.push(client)
          })
      }),
    )
    // The first cohorts are those of clients that do not know of each other yet.
    await waitUntil('many cohorts are over', () => had.length > 80)
    ended = true
    await Promise.all(callers)
    const later = had.slice(20, 80)
    const fair = later.length / CLIENTS
    for (const client of locks.keys())
      expect(later.filter((one) => one === client).length, later.join('')).to.be.greaterThan(fair / 2)
  })
})
