import { expect } from 'chai'
import { parseOptions } from '../../pairs/options'

describe('The options of npm run bench:pairs', () => {
  it('npm run bench:pairs runs every scenario seven times by default', () => {
    const options = parseOptions(['main'])!
    expect(options).to.include({ before: 'main', rounds: 7, seconds: 1.5 })
    expect(options.scenarios.map(({ name }) => name)).to.include.members(['one-caller', 'first-5000-cycles'])
    expect(parseOptions(['--help'])).to.equal(undefined)
  })

  it('npm run bench:pairs takes one build to compare with, and scenarios by their names', () => {
    expect(parseOptions(['main', '--scenario', 'fenced'])!.scenarios.map(({ name }) => name)).to.deep.equal([
      'fenced',
    ])
    for (const args of ['', 'main other', 'main --rounds 0', 'main --scenario none', 'main --seconds 0'])
      expect(() => parseOptions(args.split(' ').filter(Boolean)), args).to.throw()
  })
})
