import { expect } from 'chai'
import fc from 'fast-check'
import { DueEntry, DueQueue } from '../../../src/leases/due-queue'
import { systemClock } from '../../../src/util/clock'

describe('The due queue of the watchdog', () => {
  const item = () => new DueEntry(0)
  const at = (time: number) => ({ monotonic: time, wall: time })
  const timesIn = (queue: DueQueue<number>) => [...queue.inOrder()].map(({ since }) => since.monotonic)

  it('The due queue stays in order of time, whatever enters and leaves', () => {
    const step = fc.oneof(fc.record({ enter: fc.nat(20) }), fc.record({ leave: fc.nat(20) }))
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const queue = new DueQueue<number>(systemClock, 1_000)
        const inside: DueEntry<number>[] = []
        for (const each of steps) {
          if ('enter' in each) {
            inside.push(item())
            queue.enter(inside.at(-1)!, at(each.enter))
          } else if (inside.length > 0) queue.leave(inside.splice(each.leave % inside.length, 1)[0]!)
          const expected = inside.map(({ since }) => since.monotonic).sort((a, b) => a - b)
          if (timesIn(queue).join() !== expected.join()) return false
        }
        return true
      }),
      { numRuns: 500 },
    )
  })

  it('The due queue takes thousands of late entries without passing all others for each (B6)', () => {
    const queue = new DueQueue<number>(systemClock, 10_000)
    for (let i = 0; i < 60_000; i++) queue.enter(item(), at(10_000 + i))
    const started = performance.now()
    for (let i = 0; i < 30_000; i++) {
      queue.enter(item(), at(5_000 + i / 10))
      // Meanwhile the others are answered as ever.
      if (i % 100 === 0) queue.enter(item(), at(80_000 + i))
    }
    expect(performance.now() - started).to.be.lessThan(10_000)
    const times = timesIn(queue)
    expect(times).to.deep.equal([...times].sort((a, b) => a - b))
  })
})
