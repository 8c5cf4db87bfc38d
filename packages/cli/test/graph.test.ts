import { expect } from 'chai'
import { type Caller, cyclesOf } from '../src/graph'
import type { ProcessAnswer } from '../src/processes'

const process: ProcessAnswer = {
  ...{ client: 'c', label: 'c', host: 'h', pid: 1, holds: [], waits: [], cut: false },
}
/** A caller that holds these keys and waits for another. */
const caller = (waits: string, ...held: string[]): Caller => ({
  process,
  wait: { key: waits, name: waits, waitingFor: 0, place: 1 },
  holds: held.map((key) => ({ key, name: key, kind: 'lock', owner: `c:${key}`, heldFor: 0 })),
})

describe('The deadlocks that the command rlock finds', () => {
  it('A cycle is found behind a chain, in a crowd, among readers, and of one caller with itself', () => {
    const [a, b, c] = [caller('b', 'a'), caller('c', 'b'), caller('a', 'c')]
    expect(cyclesOf([caller('a', 'x'), caller('x', 'y'), a, b, c])).to.deep.equal([[a, b, c]])
    expect(cyclesOf([a, b])).to.deep.equal([])
    const self = caller('a', 'a')
    expect(cyclesOf([self])).to.deep.equal([[self]])
    // Two readers hold r. One of them waits for what nothing blocks, the other for a caller that waits for r.
    const [idle, reader, writer] = [caller('free', 'r'), caller('w', 'r'), caller('r', 'w')]
    for (const order of [
      [idle, reader, writer],
      [writer, idle, reader],
      [writer, reader, idle],
    ]) {
      const [cycle, ...others] = cyclesOf(order)
      expect(others).to.deep.equal([])
      expect(cycle).to.have.members([reader, writer])
    }
  })

  it('Two cycles behind one caller are both found', () => {
    const [one, two] = [
      [caller('q', 'p'), caller('p', 'q')],
      [caller('t', 's'), caller('s', 't')],
    ]
    expect(cyclesOf([caller('k', 'x'), caller('p', 'k'), caller('s', 'k'), ...one, ...two])).to.have.lengthOf(
      2,
    )
  })

  it('A chain of 100,000 waits, and 12,000 readers before 12,000 writers, cost little', () => {
    const began = performance.now()
    const chain = Array.from({ length: 100_000 }, (_, at) => caller(`k${at + 1}`, `k${at}`))
    expect(cyclesOf(chain)).to.deep.equal([])
    const ring = [...chain, caller('k0', 'k100000')]
    expect(cyclesOf(ring)[0]).to.have.lengthOf(100_001)
    const readers = Array.from({ length: 12_000 }, (_, at) => caller('w', 'r', `own${at}`))
    const writers = Array.from({ length: 12_000 }, (_, at) => caller('r', `other${at}`))
    expect(cyclesOf([...readers, ...writers])).to.deep.equal([])
    expect(performance.now() - began).to.be.below(30_000)
  })
})
