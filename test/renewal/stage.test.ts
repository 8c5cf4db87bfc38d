import { expect } from 'chai'
import fc from 'fast-check'
import type { Hold } from '../../src/ownership/hold'
import type { Renewal } from '../../src/renewal/renewal'
import { Stage, Watched } from '../../src/renewal/stage'
import { systemClock } from '../../src/runtime/clock'

describe('a stage of the watchdog', () => {
  const watched = () => new Watched({} as Hold, {} as Renewal)
  const at = (time: number) => ({ monotonic: time, wall: time })
  const timesIn = (stage: Stage) => [...stage.inOrder()].map(({ since }) => since.monotonic)

  it('stays in order of time, whatever enters when and leaves', () => {
    const step = fc.oneof(fc.record({ enter: fc.nat(20) }), fc.record({ leave: fc.nat(20) }))
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const stage = new Stage(systemClock, 1_000)
        const inside: Watched[] = []
        for (const each of steps) {
          if ('enter' in each) {
            inside.push(watched())
            stage.enter(inside.at(-1)!, at(each.enter))
          } else if (inside.length > 0) stage.leave(inside.splice(each.leave % inside.length, 1)[0]!)
          const expected = inside.map(({ since }) => since.monotonic).sort((a, b) => a - b)
          if (timesIn(stage).join() !== expected.join()) return false
        }
        return true
      }),
      { numRuns: 500 },
    )
  })

  it('atlas B6: takes thousands that were answered late without passing all the others for each', () => {
    const stage = new Stage(systemClock, 10_000)
    for (let i = 0; i < 60_000; i++) stage.enter(watched(), at(10_000 + i))
    const started = performance.now()
    for (let i = 0; i < 30_000; i++) {
      stage.enter(watched(), at(5_000 + i / 10))
      // Meanwhile the others are answered as ever.
      if (i % 100 === 0) stage.enter(watched(), at(80_000 + i))
    }
    expect(performance.now() - started).to.be.lessThan(10_000)
    const times = timesIn(stage)
    expect(times).to.deep.equal([...times].sort((a, b) => a - b))
  })
})
