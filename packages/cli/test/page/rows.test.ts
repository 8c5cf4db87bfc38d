import { expect } from 'chai'
import { inRows } from '../../src/page/view'

const span = (label: string, from: number, to?: number) => ({ label, from, ...(to !== undefined && { to }) })
const NOW = 100

describe('The rows of a lane of rlock page', () => {
  const laid = (...spans: ReturnType<typeof span>[]) =>
    inRows(spans, 3, NOW).map(({ label, row, rows }) => `${label} ${row}/${rows}`)

  it('Holds that meet each other lie side by side, and one that is alone has the whole lane', () => {
    expect(laid(span('a', 0, 10), span('b', 10, 30), span('c', 20, 40), span('d', 50))).to.deep.equal([
      'a 0/1',
      'b 0/2',
      'c 1/2',
      'd 0/1',
    ])
  })

  it('Holds that find no row are one span that says how many it stands for', () => {
    const all = [
      span('a', 0),
      span('b', 1),
      span('c', 2, 50),
      span('d', 3, 60),
      span('e', 59, 70),
      span('f', 80, 90),
    ]
    expect(laid(...all)).to.deep.equal(['a 0/3', 'b 1/3', '3 more 2/3', 'f 2/3'])
    expect(inRows(all, 3, NOW)[2]).to.include({ from: 2, to: 70 })
  })

  it('No two spans cover each other, of 10,000 that are open and of many that come and go', () => {
    const many = Array.from({ length: 10_000 }, (_, at) =>
      span(`r${at}`, at % 97, at % 3 === 0 ? undefined : (at % 97) + (at % 7)),
    )
    const began = performance.now()
    const all = inRows(many, 6, NOW)
    expect(performance.now() - began).to.be.below(5_000)
    for (const [at, one] of all.entries())
      for (const other of all.slice(at + 1))
        if (one.row === other.row)
          expect((one.to ?? NOW) <= other.from || (other.to ?? NOW) <= one.from).to.equal(true)
  })
})
