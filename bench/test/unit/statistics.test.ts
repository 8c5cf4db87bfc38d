import { expect } from 'chai'
import { atRank, spreadOf } from '../../driver/statistics'
import { parseOptions } from '../../options'

describe('The statistics of the bench', () => {
  it('The spread of some values is their median, the least and the most', () => {
    expect(spreadOf([3, 1, 2])).to.deep.equal({ median: 2, least: 1, most: 3 })
    expect(spreadOf([4, 1, 2, 3])).to.deep.equal({ median: 2.5, least: 1, most: 4 })
    expect(spreadOf([])).to.equal(undefined)
  })

  it('A value at a rank is the one below which that part of the values lies', () => {
    const sorted = Array.from({ length: 100 }, (_, index) => index + 1)
    expect(atRank(sorted, 0.5)).to.equal(50)
    expect(atRank(sorted, 0.99)).to.equal(99)
    expect(atRank(sorted, 1)).to.equal(100)
    expect(atRank([], 0.5)).to.be.NaN
  })
})

describe('The options of npm run bench', () => {
  it('npm run bench runs every scenario five times by default', () => {
    expect(parseOptions([])).to.include({ quick: false, rounds: 5, seconds: 2, check: false })
    expect(parseOptions(['--quick'])).to.include({ rounds: 2, seconds: 0.5 })
    expect(parseOptions(['--help'])).to.equal(undefined)
  })

  it('npm run bench refuses what makes no sense and names the option', () => {
    for (const args of [
      '--rounds 0',
      '--rounds 1.5',
      '--seconds many',
      '--scenario none',
      '--subject none',
      '--json=',
    ])
      expect(() => parseOptions(args.split(' ')), args).to.throw(/--(rounds|seconds|scenario|subject|json)/)
  })
})
