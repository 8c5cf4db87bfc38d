import { expect } from 'chai'
import { LONGEST_TURN, MOST_HAND_OVERS } from '../../src/waiting/turn'
import { waitUntil } from '../servers'
import { closeAll, createRedisson, uniqueName } from '../support/clients'
import { HandingOver } from '../support/handing-over'

describe('the turns of processes that hand a lock over', () => {
  let scene: HandingOver
  let ended: boolean

  beforeEach(async () => {
    ended = false
    scene = await HandingOver.open()
  })
  afterEach(closeAll)

  /** Callers that want the lock again as soon as they have had it, until the test has seen enough. */
  const flows = (count: number, inside: (flow: number) => void) =>
    Array.from({ length: count }, async (_, flow) => {
      while (!ended) {
        const hold = await scene.lock.acquire()
        inside(flow)
        await hold.unlock()
      }
    })

  /** How often it was handed over in each turn that has ended. */
  const turns = () =>
    scene.sent
      .filter((name) => name === 'lock/hand-over' || name === 'lock/release')
      .join()
      .split('lock/release')
      .slice(0, -1)
      .map((turn) => turn.split('hand-over').length - 1)

  it('end in time though nobody else is known to wait, and the next one begins at once', async () => {
    const order: number[] = []
    const all = flows(3, (flow) => order.push(flow))
    await scene.asleep(3)
    await scene.foreign.release()
    await waitUntil('it goes round', () => scene.sent.length > 100)
    expect(turns()).to.deep.equal([])
    scene.clock.advance(LONGEST_TURN)
    await waitUntil('a turn has ended', () => turns().length === 1)
    // No time passes here, so nobody could have stayed back.
    const soFar = order.length
    await waitUntil('it goes on', () => order.length > soFar + 100)
    ended = true
    await Promise.all(all)
    for (const [index, flow] of order.entries()) expect(flow).to.equal(index % 3)
  })

  it('are of so many hand-overs at most while another client waits, and it gets in after each', async () => {
    const ours: number[] = []
    const all = flows(8, (flow) => ours.push(flow))
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
    // That others wait is known from the end of the first turn on.
    await waitUntil('the first turn is under way', () => ours.length > 0)
    scene.clock.advance(LONGEST_TURN)
    await waitUntil('many turns are over', () => {
      // Where the other does not come in time, we go on.
      scene.clock.advance(1)
      return turns().length > 30
    })
    ended = true
    const later = turns().slice(1)
    await Promise.all([...all, other])
    for (const turn of later) expect(turn).to.be.at.most(MOST_HAND_OVERS)
    expect(later.length).to.be.greaterThan(20)
    const served = new Set(seen.filter((count) => count > 0))
    expect(served.size).to.be.greaterThan(later.length / 2)
    for (const [index, flow] of ours.slice(0, -8).entries()) expect(flow).to.equal(index % 8)
  })

  it('go round among clients that all want the lock again at once', async () => {
    const CLIENTS = 3
    const name = uniqueName()
    const locks = (await Promise.all(Array.from({ length: CLIENTS }, () => createRedisson()))).map((client) =>
      client.getLock(name),
    )
    /** Which client had each turn. */
    const had: number[] = []
    const callers = locks.flatMap((lock, client) =>
      Array.from({ length: 4 }, async () => {
        while (!ended)
          await lock.withLock(() => {
            if (had.at(-1) !== client) had.push(client)
          })
      }),
    )
    // The first turns are those of clients that do not know of each other yet.
    await waitUntil('many turns are over', () => had.length > 80)
    ended = true
    await Promise.all(callers)
    const later = had.slice(20, 80)
    const fair = later.length / CLIENTS
    for (const client of locks.keys())
      expect(later.filter((one) => one === client).length, later.join('')).to.be.greaterThan(fair / 2)
  })
})
