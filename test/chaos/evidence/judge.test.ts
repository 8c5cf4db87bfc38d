import { expect } from 'chai'
import { Judge } from './judge'
import type { EvidenceRecord } from './records'

const SECOND = 1_000_000

/** Feeds a judge with what workers would have recorded; times in seconds. */
class Story {
  readonly judge = new Judge()

  tell(at: number, who: string, event: EvidenceRecord['event'], more: Partial<EvidenceRecord> = {}): this {
    this.judge.record({
      ...{ event, worker: who, flow: 'flow', lock: 'lock', side: 'x', turn: 1, at: at * SECOND },
      ...{ value: undefined, ok: true, error: undefined, lease: undefined },
      ...more,
    })
    return this
  }

  /** A whole turn that is as it should be. */
  turn(at: number, who: string, value: number): this {
    this.tell(at, who, 'want').tell(at, who, 'in')
    return this.tell(at + 0.01, who, 'out', { value }).tell(at + 0.02, who, 'free')
  }

  violations(): string[] {
    this.judge.finish()
    return this.judge.violations.map(({ kind }) => kind)
  }
}

describe('the judge of a chaos run', () => {
  it('finds nothing wrong with turns in order', () => {
    expect(new Story().turn(1, 'node-1', 1).turn(2, 'java', 2).turn(3, 'node-1', 3).violations()).to.be.empty
  })

  it('finds two inside of whom the first was not told', () => {
    const story = new Story().tell(1, 'node-1', 'want').tell(1, 'node-1', 'in').turn(2, 'node-2', 1)
    expect(story.tell(3, 'node-1', 'out').violations()).to.deep.equal(['overlap'])
  })

  it('finds none where the first was told before, also when its word comes later', () => {
    const story = new Story().tell(1, 'node-1', 'in').tell(2, 'node-2', 'in')
    story.judge.disturbances.begin('stall', 'node-1', SECOND)
    expect(story.tell(1.9, 'node-1', 'lost').violations()).to.be.empty
  })

  it('finds readers in company all right, and a writer among them not', () => {
    const reading = { side: 'r' } as const
    const story = new Story().tell(1, 'node-1', 'in', reading).tell(2, 'node-2', 'in', reading)
    expect(story.tell(3, 'node-1', 'out', reading).tell(3, 'node-2', 'out', reading).violations()).to.be.empty
    const writer = new Story().tell(1, 'node-1', 'in', reading).tell(2, 'node-2', 'in', { side: 'w' })
    expect(writer.tell(3, 'node-1', 'out', reading).violations()).to.deep.equal(['overlap'])
  })

  it('lets a paused process off that looks when it wakes, and not one that writes', () => {
    const paused = () => {
      const story = new Story().tell(1, 'node-1', 'in').tell(3, 'node-2', 'in')
      const pause = story.judge.disturbances.begin('stop-worker', 'node-1', 1.5 * SECOND)
      pause.to = 4 * SECOND
      return story
    }
    expect(paused().tell(4.01, 'node-1', 'lost').violations()).to.be.empty
    expect(paused().tell(4.01, 'node-1', 'out', { value: 1 }).violations()).to.deep.equal(['overlap'])
  })

  it('finds an update that was written over', () => {
    const story = new Story().turn(1, 'node-1', 1).turn(2, 'node-2', 1)
    expect(story.violations()).to.deep.equal(['lost-update'])
  })

  it('lets what two overwrite off when the server had come back without its data', () => {
    const story = new Story().tell(1, 'node-1', 'in')
    story.judge.disturbances.begin('restart-empty', undefined, 1.5 * SECOND).to = 1.6 * SECOND
    story.turn(2, 'node-2', 1).tell(3, 'node-1', 'out', { value: 1 })
    expect(story.violations()).to.be.empty
    expect(story.judge.tally.excusedLostUpdates).to.equal(1)
  })

  it('counts a killed holder out from when it was killed', () => {
    const story = new Story().tell(1, 'node-1', 'in')
    story.judge.workerKilled('node-1', 1.5 * SECOND)
    expect(story.turn(5, 'node-2', 1).violations()).to.be.empty
  })

  it('finds a waiter asleep before a free lock, unless a fault excuses it', () => {
    const story = new Story().turn(1, 'node-1', 1).tell(2, 'node-2', 'want')
    story.judge.keyAbsent('lock', 2 * SECOND, 3 * SECOND)
    expect(story.violations()).to.be.empty
    story.judge.disturbances.begin('kill-subscribers', undefined, 2 * SECOND).to = 2 * SECOND
    story.judge.keyAbsent('lock', 2 * SECOND, 5 * SECOND)
    expect(story.violations()).to.be.empty
    story.judge.keyAbsent('lock', 2 * SECOND, 7 * SECOND)
    expect(story.violations()).to.deep.equal(['asleep'])
  })

  it('finds a waiter that all others pass, and not one whom readers in company keep waiting', () => {
    const passing = (side: 'x' | 'r') => {
      const story = new Story().tell(0, 'node-9', 'want', { side: side === 'r' ? 'w' : 'x' })
      for (let i = 1; i <= 60; i++) {
        const reader = { side, flow: `flow-${i}` }
        story.tell(i, 'node-1', 'in', reader)
        if (side === 'x')
          story.tell(i, 'node-1', 'out', { ...reader, value: i }).tell(i, 'node-1', 'free', reader)
      }
      story.judge.look(61 * SECOND)
      return story.judge.violations.map(({ kind }) => kind)
    }
    expect(passing('x')).to.deep.equal(['stuck'])
    expect(passing('r')).to.be.empty
  })

  it('finds a hold lost for no reason, unless its own lease ran out', () => {
    expect(new Story().tell(1, 'node-1', 'in').tell(4, 'node-1', 'lost').violations()).to.deep.equal([
      'unexplained-loss',
    ])
    const leased = { lease: 2_000 }
    expect(new Story().tell(1, 'node-1', 'in', leased).tell(3, 'node-1', 'lost', leased).violations()).to.be
      .empty
  })

  it('finds a lock kept for nobody by a client that lives', () => {
    const kept = (worker: string, to: number) => {
      const story = new Story().turn(1, 'node-1', 1)
      story.judge.keyKept('lock', { field: 'id:1', worker }, 2 * SECOND, to * SECOND)
      return story.violations()
    }
    expect(kept('node-1', 3)).to.be.empty
    expect(kept('node-1', 5)).to.deep.equal(['held-by-nobody'])
    expect(kept('java', 5)).to.be.empty
  })

  it('lets waiters off that a Java thread keeps out by a hold it counted twice', () => {
    const waiting = (turns: number) => {
      const story = new Story().tell(0, 'node-9', 'want')
      for (let i = 1; i <= 60; i++) story.turn(i, 'java', i)
      story.judge.keyHeldOn('lock', { field: 'id:1', worker: 'java' }, turns, 1 * SECOND, 60 * SECOND)
      story.judge.look(61 * SECOND)
      return story.judge.violations.map(({ kind }) => kind)
    }
    expect(waiting(0)).to.be.empty
    // The same owner, but only a few turns: a long section, which excuses nobody who sleeps.
    expect(waiting(55)).to.deep.equal(['stuck'])
  })
})
