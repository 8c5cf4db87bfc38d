import { expect } from 'chai'
import { chosen, numberOption, oneOf, wholeOption } from '../../kit/cli'
import { parseOptions as parseChaos } from '../../soak/chaos/options'

describe('The options of the programs', () => {
  it('A number outside its range, or no number, is refused with the name of its option', () => {
    for (const given of ['0', '11', '', ' ', 'many', '1.5', 'NaN'])
      expect(() => wholeOption('rounds', given, 1, 1, 10), given).to.throw(
        RangeError,
        /--rounds takes a whole/,
      )
    expect(() => numberOption('seconds', '-1', { least: 0, most: 5, otherwise: 1 })).to.throw(
      RangeError,
      /--seconds/,
    )
    expect(wholeOption('rounds', '10', 1, 1, 10)).to.equal(10)
    expect(wholeOption('rounds', undefined, 3, 1, 10)).to.equal(3)
    expect(numberOption('seconds', '0.5', { least: 0, most: 5, otherwise: 1 })).to.equal(0.5)
  })

  it('A name that is not among the allowed ones is refused with all allowed ones', () => {
    const all = [{ name: 'one' }, { name: 'two' }]
    expect(oneOf('part', 'two', ['one', 'two'])).to.equal('two')
    expect(() => oneOf('part', 'three', ['one', 'two'])).to.throw(TypeError, /--part takes one of one, two/)
    expect(chosen('part', all, undefined)).to.equal(all)
    expect(chosen('part', all, ['two'])).to.deep.equal([{ name: 'two' }])
    expect(() => chosen('part', all, ['two', 'three'])).to.throw(TypeError, /--part/)
  })

  it('npm run chaos takes three minutes on all topologies, and two for a mutant on one', () => {
    expect(parseChaos([])).to.include({ minutes: 3, seed: 1, workers: 3, java: true })
    expect(parseChaos([])!.topologies).to.deep.equal(['standalone', 'sentinel', 'cluster'])
    expect(parseChaos(['--mutants'])).to.include({ minutes: 2 })
    expect(parseChaos(['--mutants'])!.topologies).to.deep.equal([])
    expect(parseChaos(['--help'])).to.equal(undefined)
    for (const args of [
      '--minutes 0',
      '--seed 1.5',
      '--workers 17',
      '--topology ring',
      '--mutant none',
      'more',
      '--table',
    ])
      expect(() => parseChaos(args.split(' ')), args).to.throw()
  })

  it('npm run chaos takes plain and read-write locks, and all others by --objects all', () => {
    expect(parseChaos([])!.objects).to.deep.equal(['locks'])
    expect(parseChaos(['--objects', 'fair,latch'])!.objects).to.deep.equal(['fair', 'latch'])
    expect(parseChaos(['--objects', 'all'])!.objects)
      .to.include.members(['fair', 'token', 'multi', 'semaphore'])
      .and.not.include('locks')
    expect(() => parseChaos(['--objects', 'queue'])).to.throw(TypeError, /--objects/)
  })
})
