import { expect } from 'chai'
import { parseOptions } from '../../soak/endurance/options'

describe('The options of npm run endurance', () => {
  it('npm run endurance measures all parts in full by default', () => {
    expect(parseOptions([])!.orders).to.deep.equal([
      { part: 'cycles', of: 'locks', count: 1_000_000 },
      { part: 'cycles', of: 'objects', count: 1_000_000 },
      { part: 'waiters', count: 10_000 },
      { part: 'held', count: 100_000, leases: 5, lease: 30_000, kind: 'lock' },
    ])
  })

  it('npm run endurance measures only the parts that are named', () => {
    expect(parseOptions(['--held', '7', '--leases', '2', '--json', 'x'])).to.deep.equal({
      orders: [{ part: 'held', count: 7, leases: 2, lease: 30_000, kind: 'lock' }],
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
    '--held 5 --kind other',
  ])
    it(`npm run endurance refuses ${args} and names the option`, () => {
      expect(() => parseOptions(args.split(' '))).to.throw(/--(cycles|held|waiters|hold|kind)/)
    })
})
