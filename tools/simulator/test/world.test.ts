import { expect } from 'chai'
import { World } from '../../../packages/testing/src/simulation/world'
import { systemClock } from '../../../src/util/clock'
import { random } from '../../../src/util/random'
import { runSchedule } from '../run-schedule'
import { scenes } from '../scenes'
import { findingsOf } from '../totals'

describe('The world of the simulator', () => {
  for (const scene of scenes)
    it(`A run of the scene ${scene.name} repeats: one seed has one hash, recorded or not`, async () => {
      const first = await runSchedule(scene, 7)
      const others = await runSchedule(scene, 8)
      const again = await runSchedule(scene, 7, { isRecorded: true })
      expect(again.hash).to.equal(first.hash)
      expect(JSON.stringify(again.history)).to.equal(JSON.stringify(first.history))
      expect(others.hash).not.to.equal(first.hash)
      expect(first.sections).to.be.greaterThan(0)
    })

  it('A choice that is left out takes its default, and changes nothing before it', async () => {
    const [scene] = scenes
    const whole = await runSchedule(scene!, 3, { isRecorded: true })
    const fault = whole.choices.findLast(({ stream }) => stream === 'faults')!
    const leftOut = new Set([`${fault.stream}#${fault.index}`])
    const without = await runSchedule(scene!, 3, { isRecorded: true, leftOut })
    expect(
      without.choices.some(({ stream, index }) => stream === fault.stream && index === fault.index),
    ).to.equal(false)
    expect(without.trace.slice(0, 5)).to.deep.equal(whole.trace.slice(0, 5))
  })

  for (const [what, ask] of [
    ['a real timer', () => systemClock.after(1, () => {})],
    ['the real time', () => systemClock.now()],
  ] as const)
    it(`A run in which the package asks for ${what} fails, and the failure names it`, async () => {
      const world = new World({ seed: 1 })
      await world.run(async () => {
        ask()
      })
      expect(world.mishaps[0]?.error.message).to.match(new RegExp(`asked for ${what}`))
    })

  it('A run with so many events ends as one that does not come to rest', async () => {
    const world = new World({ seed: 1 })
    const again = () => void world.in(1, undefined, again)
    const end = await world.run(() => new Promise<void>(again), 1_000, 100)
    expect([end, world.events]).to.deep.equal(['restless', 100])
  })

  it('A schedule with too many events is judged as far as it came', async () => {
    const outcome = await runSchedule(scenes.find(({ name }) => name === 'red')!, 379, { mostEvents: 50_000 })
    expect([outcome.isCut, outcome.mishaps]).to.deep.equal([true, []])
  })

  it('Randomness of the package comes from the seed', async () => {
    const draw = async (seed: number) => {
      const drawn: number[] = []
      await new World({ seed }).run(async () => void drawn.push(random(), random()))
      return drawn
    }
    expect(await draw(1)).to.deep.equal(await draw(1))
    expect(await draw(2)).not.to.deep.equal(await draw(1))
    expect(random()).not.to.equal(random())
  })

  it('An error without a handler, and a run in which nothing is left to happen, fail', async () => {
    const world = new World({ seed: 1 })
    const end = await world.run(async () => {
      world.in(5, undefined, () => {
        throw new Error('thrown in a timer')
      })
      await new Promise(() => {})
    })
    expect(end).to.equal('stuck')
    expect(world.mishaps.map(({ at, error }) => [at, error.message])).to.deep.equal([
      [5, 'thrown in a timer'],
    ])
  })
})

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
