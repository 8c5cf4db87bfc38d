import { expect } from 'chai'
import { STANDALONE_FAULTS } from './loss-order/faults'
import { type StandaloneLane, standaloneLane } from './loss-order/lane'
import { playRound, type Round } from './loss-order/round'

const LEASE = 2_000
const AT_A_TIME = 6

const TITLES = {
  lost: 'is notified of the loss before Redis lets another in',
  kept: 'keeps the lock',
  paused: 'finds it lost at the first look on waking (B10)',
  wiped: 'is notified of the loss',
}

describe('A holder in a process of its own (guarantee 5)', () => {
  const rounds = new Map<string, Promise<Round>>()
  const lanes: StandaloneLane[] = []

  // All at once: each round is a lease or two of waiting.
  before(async () => {
    lanes.push(...(await Promise.all(Array.from({ length: AT_A_TIME }, standaloneLane))))
    const free = lanes.map((lane) => Promise.resolve(lane))
    for (const fault of STANDALONE_FAULTS) {
      const lane = free.shift()!
      const round = lane.then((its) => playRound(its, fault, LEASE))
      rounds.set(fault.id, round)
      round.catch(() => {})
      free.push(round.then(() => lane))
    }
  })

  after(async () => {
    await Promise.allSettled(rounds.values())
    await Promise.all(lanes.map((lane) => lane.stop()))
  })

  for (const { id, title, expects } of STANDALONE_FAULTS)
    it(`${title}: ${TITLES[expects]}`, async () => {
      const { problems, lost } = (await rounds.get(id))!
      expect(problems).to.deep.equal([])
      expect(lost).to.equal(expects !== 'kept')
    })
})
