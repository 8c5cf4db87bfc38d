import { expect } from 'chai'
import { Branches, type BranchPlace } from '../../../src/ownership/branch-queue'
import { LogicalThread } from '../../../src/ownership/logical-thread'
import { Random } from '../../kit/random'

const TREES_A_SEED = 500
const MAX_DEPTH = 4

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

/** A random tree of threads below one hold. Each thread acquires, starts children, awaits them, and releases. */
class Tree {
  private readonly branches = new Branches()
  private readonly holder = new LogicalThread(undefined)
  readonly log: string[] = []
  running = 0

  constructor(private readonly random: Random) {}

  start(): void {
    const count = 2 + this.random.between(0, 1)
    for (let child = 0; child < count; child++) void this.live(`${child}`, this.holder, [])
  }

  private async live(name: string, parent: LogicalThread, above: readonly LogicalThread[]): Promise<void> {
    const { random } = this
    this.running++
    const thread = new LogicalThread(parent)
    const path = [...above, thread]
    const held: BranchPlace[] = []
    const children: Promise<void>[] = []
    for (let step = 1 + random.between(0, 4); step > 0; step--) {
      for (let turns = random.between(0, 3); turns > 0; turns--) await turn()
      const what = random.between(1, 100)
      if (what <= 50) await this.acquire(name, path, held)
      else if (what <= 80 && path.length < MAX_DEPTH)
        children.push(this.live(`${name}.${children.length}`, thread, path))
      else if (what <= 90) held.pop()?.leave()
      else await Promise.all(children)
    }
    await Promise.all(children)
    for (const place of held.reverse()) place.leave()
    thread.end()
    this.log.push(`${name} ended`)
    this.running--
  }

  private async acquire(name: string, path: readonly LogicalThread[], held: BranchPlace[]): Promise<void> {
    const place = this.branches.enter(path)
    this.log.push(`${name} asks`)
    if (place.state === 'waiting') await place.decided()
    this.log.push(`${name} is inside`)
    held.push(place)
  }
}

describe('Random trees of branches below a hold', () => {
  for (let seed = 1; seed <= 8; seed++)
    it(`An ancestor that awaits its descendants never waits for one for ever (seed ${seed})`, async function () {
      this.timeout(60_000)
      const random = new Random(seed)
      for (let n = 0; n < TREES_A_SEED; n++) {
        const tree = new Tree(random)
        tree.start()
        let idle = 0
        for (let seen = 0; tree.running > 0 && idle < 100; idle++) {
          await turn()
          if (tree.log.length > seen) idle = 0
          seen = tree.log.length
        }
        expect(tree.running, `tree ${n}:\n${tree.log.join('\n')}`).to.equal(0)
      }
    })
})
