import { expect } from 'chai'
import { type BranchPlace, HoldBranches } from '../../../src/ownership/branch-place'
import { LogicalThread } from '../../../src/ownership/logical-thread'
import { Random } from '../../kit/random'

interface Node {
  readonly thread: LogicalThread
  readonly path: readonly LogicalThread[]
}

interface Asked {
  readonly node: Node
  readonly reads: boolean
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

/** Until the promises of the queues have had their turns. */
const settled = () => new Promise<void>((resolve) => setImmediate(resolve))

describe('The places of branches below a hold', () => {
  for (const seed of [1, 2, 3, 4, 5, 6, 7, 8])
    it(`One path, or readers, are inside at a time, and no branch waits for an empty hold (seed ${seed})`, async () => {
      const random = new Random(seed)
      const nodes = family()
      const branches = new HoldBranches()
      let asked: Asked[] = []
      const inside = () => asked.filter(({ place }) => place.state === 'inside')
      const expectExclusion = () => {
        const all = inside()
        for (const one of all)
          for (const other of all)
            if (!(one.reads && other.reads)) expect(areRelated(one.node, other.node)).to.equal(true)
      }
      // A refused branch leaves, which may let in others, of which some may be refused.
      const quiet = async () => {
        for (let refused = asked; refused.length > 0; ) {
          await settled()
          expectExclusion()
          refused = asked.filter(({ place }) => place.state === 'refused')
          for (const { place } of refused) place.leave()
          asked = asked.filter(({ place }) => place.state !== 'left')
        }
      }
      for (let step = 0; step < 1_000; step++) {
        if (random.chance(55) || asked.length === 0) {
          const node = random.pick(nodes)
          const reads = random.chance(40)
          asked.push({ node, reads, place: branches.enter(node.path, reads) })
        } else random.pick(asked).place.leave()
        expectExclusion()
        if (random.chance(60)) {
          await quiet()
          if (asked.length > 0) expect(inside(), `after step ${step}`).to.not.have.length(0)
        }
      }
      // Those inside leave one after the other: every branch that waits gets in.
      let served = 0
      for (await quiet(); asked.length > 0; await quiet()) {
        const first = inside()[0]
        expect(first, `${asked.length} wait for an empty hold`).to.not.equal(undefined)
        first!.place.leave()
        served++
      }
      expect(served).to.be.greaterThan(0)
      expect(branches.places.size).to.equal(0)
      for (const { thread } of nodes) expect(thread.places?.size ?? 0).to.equal(0)
    })

  it('Branches enter first come, first served, also if others gave up in between', async () => {
    const holder = new LogicalThread(undefined)
    const branches = new HoldBranches()
    const enter = () => {
      const thread = new LogicalThread(holder)
      return branches.enter([thread], false)
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
      await settled()
      expect(waiting.filter(({ state }) => state === 'inside')).to.deep.equal([next])
      before = next
    }
  })

  it('Branches that gave up leave nothing behind in the queue', () => {
    const holder = new LogicalThread(undefined)
    const branches = new HoldBranches()
    const enter = () => {
      const thread = new LogicalThread(holder)
      return branches.enter([thread], false)
    }
    enter()
    enter()
    for (let round = 0; round < 10_000; round++) enter().leave()
    const { queue } = branches.top as unknown as {
      queue: { waiting: Set<unknown>; mutex: { _semaphore: { _queue: unknown[] } } }
    }
    expect(queue.waiting.size).to.equal(1)
    expect(queue.mutex._semaphore._queue.length).to.equal(1)
  })
})
