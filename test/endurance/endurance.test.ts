import { expect } from 'chai'
import { measure } from './measure'
import type { Order } from './messages'
import { parseOptions } from './options'
import { fromSources, type Programs } from './programs'
import { table } from './table'
import { type Bounds, rowsOf } from './verdict'

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
  let programs: Programs

  before(async () => {
    programs = await fromSources()
  })

  async function keptBy(order: Order, bounds = BUSY) {
    const { result } = await measure(order, programs)
    const rows = rowsOf(result, bounds)
    expect(rows.some(({ kept }) => kept !== undefined)).to.equal(true)
    expect(
      rows.every(({ kept }) => kept !== false),
      `\n${table(rows)}\n`,
    ).to.equal(true)
  }

  it('guarantee 7: 20,000 names, locked in every way there is, leave nothing behind', () =>
    keptBy({ part: 'cycles', count: 20_000 }))

  it('guarantee 7, atlas A13: 1,000 waiters on one lock cost Redis nothing and leave nothing behind', () =>
    keptBy({ part: 'waiters', count: 1_000 }))

  it('guarantee 6, atlas B6: 30,000 held locks are renewed without a stall, and leave nothing behind', () =>
    keptBy(
      { part: 'held', count: 30_000, leases: 1, lease: 12_000, read: false },
      // Most of the code is run for the first time here and compiled on the way: 50 bytes a hold.
      { ...BUSY, heapGrowth: 1_500_000 },
    ))
})

describe('the arguments of npm run endurance', () => {
  it('are all three parts in full when none is named', () => {
    expect(parseOptions([])!.orders).to.deep.equal([
      { part: 'cycles', count: 1_000_000 },
      { part: 'waiters', count: 10_000 },
      { part: 'held', count: 100_000, leases: 5, lease: 30_000, read: false },
    ])
  })

  it('are only the parts that are named, else', () => {
    expect(parseOptions(['--held', '7', '--leases', '2', '--json', 'x'])).to.deep.equal({
      orders: [{ part: 'held', count: 7, leases: 2, lease: 30_000, read: false }],
      json: 'x',
    })
    expect(parseOptions(['--help'])).to.equal(undefined)
  })

  for (const args of [
    '--cycles 0',
    '--cycles 1.5',
    '--held many',
    '--waiters 5',
    '--leases 3 --cycles 9',
    '--hold 1',
  ])
    it(`are refused with a reason: ${args}`, () => {
      expect(() => parseOptions(args.split(' '))).to.throw(/--(cycles|held|waiters|hold)/)
    })
})
