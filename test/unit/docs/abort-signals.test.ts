import { expect } from 'chai'
import { examplesIn, pages } from '../../kit/docs/pages'
import { sourceExamples } from '../../kit/docs/source-examples'

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
