import { expect } from 'chai'
import { parseOptions as capacity } from '../../capacity/capacity'
import { parseOptions as bench } from '../../options'
import { parseOptions as pairs } from '../../pairs/options'

describe('The options of the benches', () => {
  const words = (args: string) => args.split(' ').filter(Boolean)
  const names = (all: readonly { name: string }[]) => all.map(({ name }) => name)

  it('npm run bench runs every scenario five times by default, and the objects where asked', () => {
    expect(bench([])).to.include({ quick: false, rounds: 5, seconds: 2, check: false })
    expect(bench(['--quick'])).to.include({ rounds: 2, seconds: 0.5 })
    expect(names(bench([])!.scenarios))
      .to.include('one-caller')
      .and.not.to.include('latch')
    expect(names(bench(['--objects'])!.scenarios))
      .to.include('latch')
      .and.not.to.include('one-caller')
  })

  it('npm run bench:pairs runs every scenario seven times by default, beside one other build', () => {
    expect(pairs(['main'])).to.include({ before: 'main', rounds: 7, seconds: 1.5 })
    expect(names(pairs(['main'])!.scenarios)).to.include.members(['one-caller', 'first-5000-cycles'])
    expect(names(pairs(['main', '--scenario', 'fenced'])!.scenarios)).to.deep.equal(['fenced'])
  })

  it('npm run bench:capacity takes parts by their names', () => {
    expect(names(capacity(['--part', 'waiters'])!.parts)).to.deep.equal(['waiters'])
    expect(capacity(['--report'])!.parts).to.deep.equal([])
  })

  it('The benches refuse what makes no sense, and know --help', () => {
    const refused: [typeof bench | typeof pairs | typeof capacity, string[]][] = [
      [
        bench,
        ['--rounds 0', '--rounds 1.5', '--seconds many', '--scenario none', '--subject none', '--json='],
      ],
      [pairs, ['', 'main other', 'main --rounds 0', 'main --scenario none', 'main --seconds 0']],
      [capacity, ['--part none', '--report --part waiters', '--unknown']],
    ]
    for (const [parse, all] of refused) {
      for (const args of all) expect(() => parse(words(args)), args).to.throw()
      expect(parse(['--help'])).to.equal(undefined)
    }
  })
})
