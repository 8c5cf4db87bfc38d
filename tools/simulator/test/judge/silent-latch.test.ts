import { expect } from 'chai'
import { Written } from './written-history'

/** FLUSHALL opens a latch. Meanwhile one caller of a client waits until 20 s, another one from `joins` until `until`. */
function waits(joins: number, until: number, kind = 'FLUSHALL'): readonly string[] {
  const one = new Written({ kind: 'latch', name: 'x' })
  const set = one.call('m/1', 'set', { units: 1 })
  one.key({ value: 1 }).returned(set)
  const first = one.call('a/1', 'await')
  one.at(100).fault({ kind, excuses: ['data', 'delay'], forgets: true })
  one.at(100).key({})
  const leaves = () => one.at(20_000).failed(first, 'AbortError')
  if (joins > 20_000) leaves()
  const second = one.at(joins).call('a/2', 'await')
  if (joins < 20_000) leaves()
  return one.at(until).returned(second).broken
}

describe('The judge and a latch that opens without a message', () => {
  it('A queue that never empties learns after 30 s at most that FLUSHALL opened its latch (L1)', () => {
    expect(waits(19_000, 30_150)).to.deep.equal([])
    expect(waits(19_000, 30_300)).to.deep.equal(['asleep'])
  })

  it('A queue that was empty after FLUSHALL finds its latch open at once (L1)', () => {
    expect(waits(20_100, 21_000)).to.deep.equal(['asleep'])
  })

  it('Another fault excuses no sleep of 30 s before an open latch (L1)', () => {
    expect(waits(19_000, 30_150, 'restart empty')).to.deep.equal(['asleep'])
  })
})
