import { expect } from 'chai'
import { linearize } from '../../judge/sequential/linearize'
import type { Action, SequentialOperation, Specification } from '../../judge/sequential/specification'
import {
  fencedMutex,
  latch,
  mutex,
  permits,
  readWrite,
  reentrantMutex,
} from '../../judge/sequential/specification'
import { drawn, isExplained, mutated, random, scrambled } from './random-history'

const NEVER = Number.POSITIVE_INFINITY

type Written = readonly [
  begin: number,
  end: number,
  owner: string,
  kind: Action['kind'],
  rest?: Partial<Action>,
]

function operations(written: readonly Written[]): SequentialOperation[] {
  return written.map(([begin, end, owner, kind, rest], id) => ({
    ...{ id, begin, end },
    action: { kind, owner, units: 1, ok: true, ...rest },
  }))
}

const explains = <State>(specification: Specification<State>, ...written: Written[]) =>
  linearize(specification, operations(written)) === undefined

const W = { side: 'write' } as const
const R = { side: 'read' } as const

const SPECIFICATIONS: Readonly<Record<string, Specification<unknown>>> = {
  mutex: mutex as Specification<unknown>,
  reentrantMutex: reentrantMutex as Specification<unknown>,
  fencedMutex: fencedMutex as Specification<unknown>,
  readWrite: readWrite as unknown as Specification<unknown>,
  permits: permits as Specification<unknown>,
  latch: latch as Specification<unknown>,
}

describe('A history is explained by the sequential specification of its object', () => {
  it('A mutex passes from owner to owner, and not to two at once (guarantee 1)', () => {
    expect(explains(mutex, [0, 1, 'a', 'acquire'], [2, 4, 'a', 'release'], [3, 5, 'b', 'acquire'])).to.equal(
      true,
    )
    expect(explains(mutex, [0, 1, 'a', 'acquire'], [2, 3, 'b', 'acquire'], [4, 5, 'a', 'release'])).to.equal(
      false,
    )
    expect(explains(mutex, [0, 1, 'a', 'acquire'], [2, 3, 'a', 'acquire'])).to.equal(false)
  })

  it('A hold that was lost ends at the moment it was told (guarantee 5)', () => {
    expect(explains(mutex, [0, 1, 'a', 'acquire'], [3, 3, 'a', 'end'], [2, 4, 'b', 'acquire'])).to.equal(true)
    expect(explains(mutex, [0, 1, 'a', 'acquire'], [4, 4, 'a', 'end'], [2, 3, 'b', 'acquire'])).to.equal(
      false,
    )
  })

  it('An operation without an answer may have happened, and may happen late (guarantee 4)', () => {
    const held = [0, 1, 'a', 'acquire'] as const
    expect(explains(mutex, held, [2, NEVER, 'a', 'end'], [8, 9, 'b', 'acquire'])).to.equal(true)
    expect(explains(mutex, held, [10, NEVER, 'a', 'end'], [8, 9, 'b', 'acquire'])).to.equal(false)
  })

  it('A re-entrant mutex counts the levels of its owner (guarantee 6)', () => {
    const twice: Written[] = [
      [0, 1, 'a', 'acquire'],
      [2, 3, 'a', 'acquire'],
      [4, 5, 'a', 'release'],
    ]
    expect(explains(reentrantMutex, ...twice, [6, 7, 'b', 'acquire'])).to.equal(false)
    expect(explains(reentrantMutex, ...twice, [6, 7, 'a', 'release'], [8, 9, 'b', 'acquire'])).to.equal(true)
    expect(explains(reentrantMutex, ...twice, [6, 6, 'a', 'end'], [8, 9, 'b', 'acquire'])).to.equal(true)
    expect(explains(reentrantMutex, [0, 1, 'a', 'acquire'], [2, 3, 'b', 'release'])).to.equal(false)
  })

  it('The tokens of a fenced mutex rise (K1)', () => {
    const first: Written[] = [
      [0, 1, 'a', 'acquire', { token: 5 }],
      [2, 3, 'a', 'release'],
    ]
    expect(explains(fencedMutex, ...first, [4, 5, 'b', 'acquire', { token: 6 }])).to.equal(true)
    expect(explains(fencedMutex, ...first, [4, 5, 'b', 'acquire', { token: 5 }])).to.equal(false)
  })

  it('Readers share, a writer does not, and it may hold both sides (guarantee 1)', () => {
    const readers: Written[] = [
      [0, 1, 'a', 'acquire', R],
      [2, 3, 'b', 'acquire', R],
    ]
    expect(explains(readWrite, ...readers, [4, 5, 'c', 'acquire', W])).to.equal(false)
    expect(explains(readWrite, ...readers, [4, 5, 'a', 'acquire', W])).to.equal(false)
    const stepsDown: Written[] = [
      [0, 1, 'a', 'acquire', W],
      [2, 3, 'a', 'acquire', R],
      [4, 5, 'a', 'release', W],
    ]
    expect(explains(readWrite, ...stepsDown, [6, 7, 'b', 'acquire', R])).to.equal(true)
    expect(explains(readWrite, ...stepsDown, [6, 7, 'b', 'acquire', W])).to.equal(false)
  })

  it('Permits are neither made nor lost (S2)', () => {
    const set = [0, 1, 'm', 'set', { units: 3 }] as const
    const two = { units: 2 }
    expect(explains(permits, set, [2, 3, 'a', 'acquire', two], [4, 5, 'b', 'acquire', two])).to.equal(false)
    const free = { value: 1 }
    expect(explains(permits, set, [2, 3, 'a', 'acquire', two], [4, 5, 'b', 'look', free])).to.equal(true)
    expect(explains(permits, set, [2, 3, 'a', 'acquire', two], [4, 5, 'b', 'look', { value: 2 }])).to.equal(
      false,
    )
    // A release without an answer may have happened, once.
    const unanswered = [6, NEVER, 'a', 'release'] as const
    const taken: Written[] = [set, [2, 3, 'a', 'acquire', { units: 3 }], unanswered]
    expect(explains(permits, ...taken, [8, 9, 'b', 'acquire'])).to.equal(true)
    expect(explains(permits, ...taken, [8, 9, 'b', 'acquire'], [10, 11, 'b', 'acquire'])).to.equal(false)
  })

  it('A latch opens when it was counted down as often as it was set (L1)', () => {
    const set = [0, 1, 'm', 'set', { units: 2 }] as const
    const down = (at: number): Written => [at, at + 1, 'm', 'count-down']
    expect(explains(latch, set, down(2), [4, 5, 'a', 'await'])).to.equal(false)
    expect(explains(latch, set, down(2), [4, 9, 'a', 'await'], down(6))).to.equal(true)
    expect(explains(latch, set, down(2), [4, 5, 'a', 'await', { ok: false }])).to.equal(true)
    expect(explains(latch, set, down(2), [3, 4, 'm', 'set', { units: 2 }])).to.equal(false)
  })

  for (const [name, specification] of Object.entries(SPECIFICATIONS))
    it(`Drawn histories of ${name} are explained, and broken ones are not`, () => {
      let broken = 0
      let found = 0
      for (let seed = 1; seed <= 60; seed++) {
        const history = drawn(specification as Specification<unknown>, seed, 60)
        expect(linearize(specification as Specification<unknown>, history), `seed ${seed}`).to.equal(
          undefined,
        )
        const wrong = mutated(specification as Specification<unknown>, history)
        if (!wrong) continue
        broken++
        if (linearize(specification as Specification<unknown>, wrong)) found++
      }
      expect(broken).to.be.greaterThan(20)
      expect(found).to.equal(broken)
    })

  for (const [name, specification] of Object.entries(SPECIFICATIONS))
    it(`The search among the orders of ${name} finds what a trial of every order finds`, () => {
      const next = random(name.length)
      let explained = 0
      for (let history = 0; history < 400; history++) {
        const operations = scrambled(next, specification.ignoresOwners === true)
        const expected = isExplained(specification, operations)
        if (expected) explained++
        expect(linearize(specification, operations) === undefined, JSON.stringify(operations)).to.equal(
          expected,
        )
      }
      expect(explained).to.be.within(40, 360)
    })

  it('Callers of a semaphore that gave up make a history of many concurrent operations no slower', () => {
    const written: Written[] = [[0, 1, 'm', 'set', { units: 2 }]]
    for (let caller = 0; caller < 24; caller++) {
      written.push(
        [2, Number.POSITIVE_INFINITY, '', 'abandon'],
        [2, Number.POSITIVE_INFINITY, '', 'give-back'],
      )
      written.push([2, 500 + caller, `c${caller}`, 'acquire'], [2, 400 + caller, `c${caller}`, 'release'])
    }
    const began = performance.now()
    expect(explains(permits, ...written, [600, 601, 'm', 'look', { value: 1 }])).to.equal(true)
    expect(performance.now() - began).to.be.lessThan(5_000)
  })

  it('Ten thousand operations of twenty callers take less than five seconds', () => {
    const began = performance.now()
    const history = drawn(permits as Specification<unknown>, 7, 10_000, 20)
    expect(linearize(permits as Specification<unknown>, history)).to.equal(undefined)
    expect(performance.now() - began).to.be.lessThan(5_000)
  })
})
