import { expect } from 'chai'
import { EventQueue } from '../../../../packages/testing/src/simulation/event-queue'
import type { SimulatedObject } from '../../judge/history'
import { lockSection } from '../../lock-section'
import { parseOptions } from '../../options'
import { explore, Priorities } from '../../order/exhaustive'
import { smallWorlds } from '../../order/small-worlds'
import { runSchedule } from '../../run-schedule'
import type { Scene } from '../../scene'
import { scenes } from '../../scenes'
import { newTotals } from '../../totals'

const [plain] = smallWorlds

/** The second client locks another name, after a time in which nothing else shows. */
const broken: Scene = {
  ...plain!,
  setUp: () => {
    const object: SimulatedObject = { kind: 'lock', name: 'one' }
    return {
      objects: [object],
      async caller(caller) {
        if (!caller.name.endsWith('.1')) return
        for (let ms = 0; ms < 20; ms++) await caller.sleep(1)
        const lock = caller.redisson.getLock(caller.name === 'c1.1' ? 'one' : 'two')
        await lockSection(caller, object, lock, { way: { length: 2, pieces: 2 } })
      },
    }
  },
}

describe('Orders of the simulator', () => {
  it('Every order of a small world without faults passes, and has the same states', async () => {
    const first = await explore(plain!, 100, newTotals())
    expect(first.complete).to.be.greaterThanOrEqual(0)
    expect(first.violations).to.equal(0)
    expect(first.states).to.be.greaterThan(50)
    expect(await explore(plain!, 100, newTotals())).to.deep.equal(first)
  })

  it('Every order of a small world with Java passes, for each object that Java shares', async () => {
    const shared = smallWorlds.filter(({ name }) => name.endsWith('with Java'))
    expect(shared).to.have.length(7)
    for (const world of shared) {
      const { violations, states } = await explore(world, 40, newTotals())
      expect([world.name, violations]).to.deep.equal([world.name, 0])
      expect(states).to.be.greaterThan(20)
    }
  })

  it('The search of every order finds two owners inside, and a bound is not every order', async () => {
    const outcome = await explore(broken, 3, newTotals())
    expect(outcome.violations).to.be.greaterThan(0)
    expect((await explore(plain!, 1, newTotals())).complete).to.equal(undefined)
  })

  it('Priorities give a seed one hash, and another one at another depth', async () => {
    const run = async (depth: number) => await runSchedule(scenes[0]!, 7, { order: new Priorities(depth, 7) })
    const first = await run(3)
    expect(first.sections).to.be.greaterThan(0)
    expect((await run(3)).hash).to.equal(first.hash)
    expect((await run(30)).hash).not.to.equal(first.hash)
  })

  it('An event may happen before another one only while no third has to happen first', () => {
    const queue = new EventQueue()
    const nothing = () => {}
    const [one, two] = [{}, {}]
    const early = queue.plan(1, undefined, nothing, 5, one)
    const behind = queue.plan(2, undefined, nothing, 6, one)
    const beside = queue.plan(3, undefined, nothing, 8, two)
    queue.plan(7, undefined, nothing)
    expect(queue.possible()).to.deep.equal([early, beside])
    queue.remove(early)
    expect(queue.possible()).to.deep.equal([behind, beside])
    queue.remove(beside)
    expect(queue.take()).to.equal(behind)
    expect(queue.take()?.time).to.equal(7)
    expect(queue.size).to.equal(0)
  })

  it('The command names options that exclude each other', () => {
    expect(parseOptions(['--exhaustive'], scenes).seeds).to.equal(2_000)
    expect(parseOptions(['--pct', '3'], scenes).depth).to.equal(3)
    expect(() => parseOptions(['--pct', '3', '--exhaustive'], scenes)).to.throw(/exclude each other/)
  })
})
