import { expect } from 'chai'
import { runSchedule } from '../run-schedule'
import { scenes } from '../scenes'
import { findingsOf } from '../totals'

const SHARED = ['plain', 'fair', 'fenced', 'semaphore', 'permits', 'latch']
const MOST_SEEDS = 30

describe('Java clients in the simulated world', () => {
  for (const name of SHARED)
    it(`Threads of a Java client share the objects of the scene ${name}, and the run repeats`, async () => {
      const scene = scenes.find((each) => each.name === name)!
      for (let seed = 1; seed <= MOST_SEEDS; seed++) {
        const outcome = await runSchedule(scene, seed)
        const { events } = outcome.history
        const calls = new Set<number>()
        for (const event of events)
          if (event.type === 'call' && event.client.startsWith('j')) calls.add(event.id)
        const granted = events.filter((event) => event.type === 'return' && event.ok && calls.has(event.id))
        if (granted.length === 0) continue
        expect(findingsOf(outcome)).to.deep.equal([])
        expect((await runSchedule(scene, seed)).hash).to.equal(outcome.hash)
        return
      }
      throw new Error('no run has a Java client')
    })
})
