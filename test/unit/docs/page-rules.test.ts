import { expect } from 'chai'
import { type Example, examples, examplesIn, pages, textOf } from '../../kit/docs/pages'
import { sourceExamples } from '../../kit/docs/source-examples'

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

describe('The signals of the examples', () => {
  // On Node 20 a combined signal does not keep its timeout alive.
  it('No example of a page combines AbortSignal.timeout with another signal', () => {
    const examples = [...pages().flatMap(examplesIn), ...sourceExamples()]
    const combined = examples.filter(
      ({ code }) => code.includes('AbortSignal.any') && code.includes('AbortSignal.timeout'),
    )
    expect(examples.length).to.be.above(100)
    expect(combined.map(({ page, line }) => `${page}:${line}`)).to.deep.equal([])
  })
})

/** The line of the page on which code, not a comment, calls one of these methods for the first time. */
function firstLine(blocks: readonly Example[], method: RegExp): number {
  const lines = blocks.flatMap(({ code, line }) =>
    code.split('\n').flatMap((text, at) => (method.test(text.replace(/\/\/.*/, '')) ? [line + at] : [])),
  )
  return Math.min(...lines)
}

const LOCK = /\.(lock|tryLock)\(/
const WITH_LOCK = /\.withLock\(/

/**
 * The commonest mistake is an `unlock()` by a caller that acquired nothing. `withLock` cannot make it, so a reader who
 * takes the first example of a page takes that one.
 */
describe('withLock comes first', () => {
  const blocks = examples('ts')
  const shown = [...new Set(blocks.map(({ page }) => page))]
    .map((page) => ({ page, blocks: blocks.filter((block) => block.page === page) }))
    .filter(({ blocks }) => firstLine(blocks, LOCK) < Number.POSITIVE_INFINITY)

  it('on pages: some show lock()', () => expect(shown).to.not.be.empty)

  for (const { page, blocks } of shown)
    it(`on ${page}, which shows lock() or tryLock()`, () =>
      expect(firstLine(blocks, WITH_LOCK), 'the line of withLock').to.be.below(firstLine(blocks, LOCK)))
})
