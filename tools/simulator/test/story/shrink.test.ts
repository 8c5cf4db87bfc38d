import { expect } from 'chai'
import { shrink } from '../../story/shrink'

const upTo = (count: number) => Array.from({ length: count }, (_, number) => number)

describe('A violation is shrunk to the choices that it needs', () => {
  it('Only what is needed stays, in its order', async () => {
    const { needed, runs } = await shrink(upTo(1_000), async (kept) =>
      [17, 400, 999].every((each) => kept.includes(each)),
    )
    expect(needed).to.deep.equal([17, 400, 999])
    expect(runs).to.be.lessThan(200)
  })

  it('What happens without any choice needs none', async () => {
    expect(await shrink(upTo(50), async () => true)).to.deep.equal({ needed: [], runs: 1, isShortest: true })
  })

  it('No single choice can go, also where one of two is enough', async () => {
    const happens = async (kept: readonly number[]) =>
      (kept.includes(3) || kept.includes(60)) && kept.filter((each) => each % 10 === 1).length >= 2
    const { needed } = await shrink(upTo(100), happens)
    expect(await happens(needed)).to.equal(true)
    for (const one of needed) expect(await happens(needed.filter((each) => each !== one))).to.equal(false)
  })

  it('It stops after so much time', async () => {
    const { runs, isShortest } = await shrink(upTo(500), async () => false, { longest: 0 })
    expect({ runs, isShortest }).to.deep.equal({ runs: 1, isShortest: false })
  })

  it('Whole groups go first', async () => {
    const groupOf = (each: number) => each % 20
    const { needed, runs } = await shrink(upTo(2_000), async (kept) => kept.includes(7), { groupOf })
    expect(needed).to.deep.equal([7])
    expect(runs).to.be.lessThan(40)
  })

  it('It stops after so many runs, with what it has by then', async () => {
    const { needed, runs, isShortest } = await shrink(upTo(500), async (kept) => kept.length > 100, {
      mostRuns: 10,
    })
    expect(isShortest).to.equal(false)
    expect(runs).to.be.at.most(11)
    expect(needed.length).to.be.greaterThan(100)
  })
})
