import { expect } from 'chai'
import { textOf } from '../kit/docs/pages'

describe('The README as the front door', () => {
  const text = textOf('README.md')

  it('The README has 130 lines at most', () => {
    expect(text.trimEnd().split('\n').length).to.be.at.most(130)
  })

  it("The first section of the README is Try it: two commands, and the demo's picture", () => {
    const [, first = ''] = text.split(/^## /m)
    expect(first).to.match(/^Try it\n/)
    for (const shown of ['npm ci && npm run demo', 'npm ci && npm test', 'docs/pictures/demo.svg'])
      expect(first).to.contain(shown)
  })
})
