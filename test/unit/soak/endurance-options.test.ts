import { expect } from 'chai'
import { parseOptions } from '../../soak/endurance/endurance'

describe('The options of npm run endurance', () => {
  it('npm run endurance measures all parts in full, or those that are named', () => {
    expect(parseOptions([])).to.deep.equal([
      { part: 'cycles', of: 'locks', count: 1_000_000 },
      { part: 'cycles', of: 'objects', count: 1_000_000 },
      { part: 'waiters', count: 10_000 },
      { part: 'held', count: 100_000, leases: 5, lease: 30_000 },
    ])
    expect(parseOptions(['--held', '7'])).to.deep.equal([
      { part: 'held', count: 7, leases: 5, lease: 30_000 },
    ])
    expect(parseOptions(['--help'])).to.equal(undefined)
    expect(() => parseOptions(['--waiters', '5'])).to.throw(/--waiters takes a whole number from 10/)
  })
})
