import { expect } from 'chai'
import { Branches, type BranchPlace } from '../../../src/ownership/branch-queue'
import { LogicalThread } from '../../../src/ownership/logical-thread'
import { Random } from '../../kit/random'

interface Node {
  readonly thread: LogicalThread
  readonly path: readonly LogicalThread[]
}

interface Asked {
  readonly node: Node
  readonly place: BranchPlace
}

/** The descendants of a holder, two generations of three. */
function family(): Node[] {
  const holder = new LogicalThread(undefined)
  const nodes: Node[] = []
  const grow = (parent: LogicalThread, path: readonly LogicalThread[], depth: number) => {
    for (let child = 0; child < 3; child++) {
      const thread = new LogicalThread(parent)
      const node = { thread, path: [...path, thread] }
      nodes.push(node)
      if (depth > 1) grow(thread, node.path, depth - 1)
    }
  }
  grow(holder, [], 3)
  return nodes
}

const areRelated = (one: Node, other: Node) =>
  one.path.includes(other.thread) || other.path.includes(one.thread)

describe('The places of branches below a hold', () => {
  for (const seed of [1, 2, 3, 4, 5, 6, 7, 8])
    it(`One path is inside at a time, and no branch waits for an empty hold (seed ${seed})`, () => {
      const random = new Random(seed)
      const nodes = family()
      const branches = new Branches()
      let asked: Asked[] = []
      const inside = () => asked.filter(({ place }) => place.state === 'inside')
      const check = (when: string) => {
        asked = asked.filter(({ place }) => place.state !== 'left')
        const all = inside()
        for (const one of all)
          for (const other of all) expect(areRelated(one.node, other.node), when).to.equal(true)
        if (asked.length > 0)
          expect(all, `${asked.length} wait for an empty hold ${when}`).to.not.have.length(0)
      }
      for (let step = 0; step < 1_000; step++) {
        if (random.chance(55) || asked.length === 0) {
          const node = random.pick(nodes)
          asked.push({ node, place: branches.enter(node.path) })
        } else random.pick(asked).place.leave()
        check(`after step ${step}`)
      }
      // The branches inside leave one after the other: every branch that waits gets in.
      let served = 0
      for (; asked.length > 0; served++) {
        inside()[0]!.place.leave()
        check('at the end')
      }
      expect(served).to.be.greaterThan(0)
      for (const { thread } of nodes) expect(thread.places?.size ?? 0).to.equal(0)
    })

  it('Branches enter first come, first served, also if others gave up in between', () => {
    const holder = new LogicalThread(undefined)
    const branches = new Branches()
    const enter = () => {
      const thread = new LogicalThread(holder)
      return branches.enter([thread])
    }
    const first = enter()
    expect(first.state).to.equal('inside')
    const waiting: BranchPlace[] = []
    for (let round = 0; round < 400; round++) {
      if (round % 100 === 0) waiting.push(enter())
      enter().leave()
    }
    let before = first
    for (const next of waiting) {
      before.leave()
      expect(waiting.filter(({ state }) => state === 'inside')).to.deep.equal([next])
      before = next
    }
  })

  it('Branches that gave up leave nothing behind in the queue', () => {
    const holder = new LogicalThread(undefined)
    const branches = new Branches()
    const enter = () => branches.enter([new LogicalThread(holder)])
    enter()
    enter()
    for (let round = 0; round < 10_000; round++) enter().leave()
    const { waiting } = branches as unknown as { waiting: Set<unknown> }
    expect(waiting.size).to.equal(1)
  })

  it('A descendant of the branch that is inside enters at once, and its ancestor waits for it', () => {
    const parent = new LogicalThread(undefined)
    const child = new LogicalThread(parent)
    const branches = new Branches()
    const outer = branches.enter([parent])
    const sibling = branches.enter([new LogicalThread(undefined)])
    const inner = branches.enter([parent, child])
    expect([outer.state, sibling.state, inner.state]).to.deep.equal(['inside', 'waiting', 'inside'])
    const again = branches.enter([parent])
    expect(again.state).to.equal('waiting')
    inner.leave()
    expect([sibling.state, again.state]).to.deep.equal(['waiting', 'inside'])
    outer.leave()
    again.leave()
    expect(sibling.state).to.equal('inside')
  })
})
