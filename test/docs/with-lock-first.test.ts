import { expect } from 'chai'
import { type Example, examples } from '../kit/docs/pages'

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
