import { expect } from 'chai'
import { findingsOf } from '../findings'
import { runSchedule } from '../run-schedule'
import { scenes } from '../scenes'

/** Schedules that found a fault, with what was wrong. */
const FOUND = [
  ['plain', 98, 'a channel that was dropped while the subscriber was away stayed in its dirty set (A4)'],
  [
    'mixture',
    8_881_079,
    'a connection of before a restart of the server took a new one with its number along',
  ],
  ['fenced', 49, 'the judge expected tokens to rise over a loss of all keys'],
  [
    'permits',
    3087,
    'a permit that updateLeaseTime(-1) gave to the watchdog was not told of the end of its lease (V49)',
  ],
  ['permits', 5591, 'a Java thread took a permit for its own whose lease was over before the answer'],
  ['permits', 5866, 'the judge excused no order where a wall clock was set forward'],
  ['semaphore', 21_450, 'a server that had ended answered a WAIT'],
  ['semaphore', 2466, 'the judge forgot that a refused message is missed until the next look, after 30 s'],
  [
    'latch',
    2432,
    'the judge took the answer of a second copy, after a loss of all keys, for that of the first one',
  ],
  ['mixture', 5933, 'the judge did not know that a failover may undo what a latch was set to'],
] as const

describe('Schedules of the simulator that found a fault', () => {
  for (const [name, seed, what] of FOUND)
    it(`Seed ${seed} of the scene ${name} is without a violation: ${what}`, async () => {
      const scene = scenes.find((each) => each.name === name)!
      expect(findingsOf(await runSchedule(scene, seed))).to.deep.equal([])
    })
})
