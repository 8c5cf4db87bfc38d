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
] as const

describe('Schedules of the simulator that found a fault', () => {
  for (const [name, seed, what] of FOUND)
    it(`Seed ${seed} of the scene ${name} is without a violation: ${what}`, async () => {
      const scene = scenes.find((each) => each.name === name)!
      expect(findingsOf(await runSchedule(scene, seed))).to.deep.equal([])
    })
})
