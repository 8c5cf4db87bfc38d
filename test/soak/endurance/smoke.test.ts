import { expect } from 'chai'
import { measure, SOURCES } from './measure'
import type { Order } from './messages'
import { type Bounds, rowsOf, table } from './verdict'

// Of a machine that is busy with other things only the time on a processor can be asked for.
const ANY_DELAY = Number.POSITIVE_INFINITY
const BUSY: Bounds = {
  heapGrowth: 700_000,
  renewingDelay: ANY_DELAY,
  renewingTurn: 40,
  longestStall: ANY_DELAY,
}

/** A small helping of what `npm run endurance` measures in full. */
describe('great numbers', () => {
  async function keptBy(order: Order, bounds = BUSY) {
    const { result } = await measure(order, SOURCES)
    const rows = rowsOf(result, bounds)
    expect(rows.some(({ kept }) => kept !== undefined)).to.equal(true)
    expect(
      rows.every(({ kept }) => kept !== false),
      `\n${table(rows)}\n`,
    ).to.equal(true)
  }

  it('5,000 names, locked in every way there is, leave nothing behind (guarantee 7)', () =>
    keptBy({ part: 'cycles', of: 'locks', count: 5_000 }))

  it('5,000 names of every other object leave nothing behind (guarantee 7)', () =>
    // Their code is compiled on the way, too.
    keptBy({ part: 'cycles', of: 'objects', count: 5_000 }, { ...BUSY, heapGrowth: 1_500_000 }))

  it('1,000 waiters on one lock cost Redis nothing and leave nothing behind (guarantee 7, A13)', () =>
    keptBy({ part: 'waiters', count: 1_000 }))

  it('15,000 held locks are renewed without a stall, and leave nothing behind (guarantee 6, B6)', () =>
    keptBy(
      { part: 'held', count: 15_000, leases: 1, lease: 6_000 },
      // Most of the code is run for the first time here and compiled on the way: 70 bytes a hold.
      { ...BUSY, heapGrowth: 1_100_000 },
    ))
})
