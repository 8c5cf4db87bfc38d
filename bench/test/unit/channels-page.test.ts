import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import type { ChannelsResults } from '../../pairs/channels-page'
import { ratioOf } from '../../pairs/turns'

const ROOT = join(__dirname, '../../..')
const results: ChannelsResults = JSON.parse(readFileSync(join(ROOT, 'bench/results/channels.json'), 'utf8'))

describe('What the diagnostics channels cost without a subscriber', () => {
  it('The page about performance says equal, and no median of the run is 3 % away from that', () => {
    for (const { title, cost } of results.scenarios) expect(cost.median, title).to.be.within(0.97, 1.03)
  })

  it('The page about performance has medians, and an interval that is narrow where there are many rounds', () => {
    const ratios = Array.from({ length: 10_001 }, (_, at) => at / 10_000)
    const { median, low, high } = ratioOf(ratios)
    expect(median).to.equal(0.5)
    expect([low, high].map((each) => each.toFixed(2))).to.deep.equal(['0.49', '0.51'])
    expect(ratioOf([3, 1, 2])).to.deep.equal({ median: 2, low: 1, high: 3 })
  })
})
