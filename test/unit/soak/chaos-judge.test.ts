import { expect } from 'chai'
import { drawTimeline, svgText, THEMES } from '../../../packages/cli/src/page/timeline'
import { Judge } from '../../soak/chaos/evidence/judge'
import type { EvidenceRecord } from '../../soak/chaos/evidence/records'
import { timelineOf } from '../../soak/chaos/evidence/trace'

const SECOND = 1_000_000

/** Feeds a judge with what workers would have recorded; times in seconds. */
class Story {
  readonly judge = new Judge()

  tell(at: number, who: string, event: EvidenceRecord['event'], more: Partial<EvidenceRecord> = {}): this {
    this.judge.record({
      ...{ event, worker: who, caller: 'caller', lock: 'lock', side: 'x', turn: 1, at: at * SECOND },
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

describe('The judge of a chaos run', () => {
  it('The judge of a chaos run finds nothing wrong with critical sections in order', () => {
    expect(new Story().turn(1, 'node-1', 1).turn(2, 'java', 2).turn(3, 'node-1', 3).violations()).to.be.empty
  })

  it('The judge of a chaos run finds two holders inside of which the first was not notified', () => {
    const story = new Story().tell(1, 'node-1', 'want').tell(1, 'node-1', 'in').turn(2, 'node-2', 1)
    expect(story.tell(3, 'node-1', 'out').violations()).to.deep.equal(['overlap'])
  })

  it('The chaos judge finds none where the first was notified, also by a late record', () => {
    const story = new Story().tell(1, 'node-1', 'in').tell(2, 'node-2', 'in')
    story.judge.disturbances.begin('stall', 'node-1', SECOND)
    expect(story.tell(1.9, 'node-1', 'lost').violations()).to.be.empty
  })

  it('The judge of a chaos run finds readers in company all right, and a writer among them not', () => {
    const reading = { side: 'r' } as const
    const story = new Story().tell(1, 'node-1', 'in', reading).tell(2, 'node-2', 'in', reading)
    expect(story.tell(3, 'node-1', 'out', reading).tell(3, 'node-2', 'out', reading).violations()).to.be.empty
    const writer = new Story().tell(1, 'node-1', 'in', reading).tell(2, 'node-2', 'in', { side: 'w' })
    expect(writer.tell(3, 'node-1', 'out', reading).violations()).to.deep.equal(['overlap'])
  })

  it('The chaos judge excuses a paused process that checks, and reports one that writes', () => {
    const paused = () => {
      const story = new Story().tell(1, 'node-1', 'in').tell(3, 'node-2', 'in')
      const pause = story.judge.disturbances.begin('stop-worker', 'node-1', 1.5 * SECOND)
      pause.to = 4 * SECOND
      return story
    }
    expect(paused().tell(4.01, 'node-1', 'lost').violations()).to.be.empty
    expect(paused().tell(4.01, 'node-1', 'out', { value: 1 }).violations()).to.deep.equal(['overlap'])
  })

  it('The chaos judge excuses a section recorded after a stop, unless it writes', () => {
    const woken = () => {
      const story = new Story().tell(1, 'node-2', 'want').tell(3, 'node-1', 'in')
      story.judge.disturbances.begin('stop-worker', 'node-2', 1.1 * SECOND).to = 4 * SECOND
      return story.tell(4.01, 'node-2', 'in')
    }
    const ends = (story: Story) => story.tell(4.5, 'node-1', 'out', { value: 1 }).tell(4.6, 'node-1', 'free')
    expect(ends(woken().tell(4.02, 'node-2', 'lost')).violations()).to.be.empty
    expect(ends(woken()).tell(5, 'node-2', 'out', { value: 2 }).violations()).to.deep.equal(['overlap'])
  })

  it('The judge of a chaos run finds an update that was written over', () => {
    const story = new Story().turn(1, 'node-1', 1).turn(2, 'node-2', 1)
    expect(story.violations()).to.deep.equal(['lost-update'])
  })

  it('The chaos judge excuses overwrites after the server came back without its data', () => {
    const story = new Story().tell(1, 'node-1', 'in')
    story.judge.disturbances.begin('restart-empty', undefined, 1.5 * SECOND).to = 1.6 * SECOND
    story.turn(2, 'node-2', 1).tell(3, 'node-1', 'out', { value: 1 })
    expect(story.violations()).to.be.empty
    expect(story.judge.tally.excusedLostUpdates).to.equal(1)
  })

  it('The judge of a chaos run counts a killed holder out from when it was killed', () => {
    const story = new Story().tell(1, 'node-1', 'in')
    story.judge.workerKilled('node-1', 1.5 * SECOND)
    expect(story.turn(5, 'node-2', 1).violations()).to.be.empty
  })

  it('The chaos judge finds a waiter asleep before a free lock, unless a fault excuses it', () => {
    const story = new Story().turn(1, 'node-1', 1).tell(2, 'node-2', 'want')
    story.judge.keyAbsent('lock', 2 * SECOND, 3 * SECOND)
    expect(story.violations()).to.be.empty
    story.judge.disturbances.begin('kill-subscribers', undefined, 2 * SECOND).to = 2 * SECOND
    story.judge.keyAbsent('lock', 2 * SECOND, 5 * SECOND)
    expect(story.violations()).to.be.empty
    story.judge.keyAbsent('lock', 2 * SECOND, 7 * SECOND)
    expect(story.violations()).to.deep.equal(['asleep'])
  })

  it('The chaos judge finds a waiter that all pass, but not one that readers keep out', () => {
    const passing = (side: 'x' | 'r') => {
      const story = new Story().tell(0, 'node-9', 'want', { side: side === 'r' ? 'w' : 'x' })
      for (let i = 1; i <= 60; i++) {
        const reader = { side, caller: `caller-${i}` }
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

  it('The judge of a chaos run finds a hold lost for no reason, unless its own lease ran out', () => {
    expect(new Story().tell(1, 'node-1', 'in').tell(4, 'node-1', 'lost').violations()).to.deep.equal([
      'unexplained-loss',
    ])
    const leased = { lease: 2_000 }
    expect(new Story().tell(1, 'node-1', 'in', leased).tell(3, 'node-1', 'lost', leased).violations()).to.be
      .empty
  })

  it('The judge of a chaos run finds a lock that a living client keeps without a holder', () => {
    const kept = (worker: string, to: number) => {
      const story = new Story().turn(1, 'node-1', 1)
      story.judge.keyKept('lock', { field: 'id:1', worker }, 2 * SECOND, to * SECOND)
      return story.violations()
    }
    expect(kept('node-1', 3)).to.be.empty
    expect(kept('node-1', 5)).to.deep.equal(['held-unused'])
    expect(kept('java', 5)).to.be.empty
  })

  it('The chaos judge excuses waiters behind a hold that a Java thread counted twice', () => {
    const waiting = (turns: number) => {
      const story = new Story().tell(0, 'node-9', 'want')
      for (let i = 1; i <= 60; i++) story.turn(i, 'java', i)
      story.judge.keyHeldOn('lock', { field: 'id:1', worker: 'java' }, turns, 1 * SECOND, 60 * SECOND)
      story.judge.look(61 * SECOND)
      return story.judge.violations.map(({ kind }) => kind)
    }
    expect(waiting(0)).to.be.empty
    // The same owner, but only a few turns: a long section, which excuses no waiter that sleeps.
    expect(waiting(55)).to.deep.equal(['stuck'])
  })

  describe('Shares', () => {
    /** Both want the lock all the time for 40 s, and every so many turns one goes to the second. */
    const contended = (every: number, second = 'node-2', prepare: (judge: Judge) => void = () => {}) => {
      const story = new Story()
      prepare(story.judge)
      const caller = { caller: 'second' }
      story.tell(0, second, 'want', caller)
      for (let turn = 1; turn <= 400; turn++) {
        const at = turn / 10
        if (turn % every === 0) {
          story.tell(at, second, 'in', caller).tell(at + 0.01, second, 'out', { ...caller, value: turn })
          story.tell(at + 0.02, second, 'free', caller).tell(at + 0.03, second, 'want', caller)
        } else story.turn(at, 'node-1', turn)
        if (turn % 10 === 0) story.judge.look(at * SECOND)
      }
      return story.judge.violations.filter(({ kind }) => kind === 'starved')
    }

    it('The chaos judge finds a process below a fifth of its share, and says how little', () => {
      const [starved, ...more] = contended(12)
      expect(more).to.be.empty
      expect(starved!.what).to.match(
        /^node-2 got 2\d sections of lock where 16\d\.\d were its share \(1\d\.\d %\)/,
      )
      expect(contended(1_000, 'java')).to.have.length(1)
      expect(contended(8)).to.be.empty
    })

    it('The chaos judge excuses a share by a fault that touches that process alone', () => {
      const under = (kind: 'delay' | 'cut-all', worker?: string) =>
        contended(1_000, 'node-2', ({ disturbances }) => {
          disturbances.begin(kind, worker, 15 * SECOND).to = 25 * SECOND
        })
      expect(under('delay', 'node-2')).to.be.empty
      expect(under('cut-all')).to.be.empty
      expect(under('delay', 'node-1')).to.have.length(1)
    })

    it('The judge of a chaos run finds no such process that asks seldom, or among readers', () => {
      const story = new Story()
      for (let turn = 1; turn <= 400; turn++) {
        if (turn % 50 === 0) story.turn(turn / 10, 'node-2', turn)
        else story.turn(turn / 10, 'node-1', turn)
        story.tell(turn / 10, 'node-3', 'want', { side: 'r', caller: 'reader' })
        if (turn % 10 === 0) story.judge.look((turn / 10) * SECOND)
      }
      expect(story.judge.violations).to.be.empty
    })

    it('The chaos judge excuses a share among readers, but not where writers step down', () => {
      const reading = { side: 'r', caller: 'reader' } as const
      const steppedDown = { side: 'r' } as const
      const starved = (more: Partial<EvidenceRecord>, times = 400) => {
        const story = new Story().tell(0, 'node-2', 'want', { caller: 'second' })
        for (let turn = 1; turn <= 400; turn++) {
          const at = turn / 10
          story.tell(at, 'node-1', 'want').tell(at, 'node-1', 'in')
          if (turn <= times)
            story.tell(at + 0.01, 'node-1', 'in', more).tell(at + 0.02, 'node-1', 'free', more)
          story.tell(at + 0.03, 'node-1', 'out', { value: turn }).tell(at + 0.04, 'node-1', 'free')
          if (turn % 10 === 0) story.judge.look(at * SECOND)
        }
        return story.judge.violations.filter(({ kind }) => kind === 'starved').length
      }
      expect(starved(steppedDown)).to.equal(1)
      expect(starved(reading)).to.equal(0)
      expect(starved(reading, 1)).to.equal(0)
    })

    it('The judge of a chaos run counts the successor of a killed worker as the same process', () => {
      const story = new Story().tell(0, 'node-2', 'want', { caller: 'second' })
      for (let turn = 1; turn <= 400; turn++) {
        if (turn === 200) {
          story.judge.workerKilled('node-2', 20 * SECOND)
          story.tell(20, "node-2'1", 'want', { caller: 'second' })
        }
        story.turn(turn / 10, 'node-1', turn)
        if (turn % 10 === 0) story.judge.look((turn / 10) * SECOND)
      }
      const [starved] = story.judge.violations
      expect(starved!.what).to.match(/^node-2'1 got 0 sections/)
    })

    it('The judge of a chaos run forgets what a Java thread kept by a hold it counted twice', () => {
      const story = new Story().tell(0, 'node-2', 'want', { caller: 'second' })
      for (let turn = 1; turn <= 400; turn++) {
        story.turn(turn / 10, 'java', turn)
        if (turn % 10 !== 0) continue
        story.judge.keyHeldOn('lock', { field: 'id:1', worker: 'java' }, 0, 0, (turn / 10) * SECOND)
        story.judge.look((turn / 10) * SECOND)
      }
      expect(story.judge.violations).to.be.empty
    })
  })

  it('The chaos judge finds a lock that none can acquire, unless a lease must end', () => {
    const standing = (owner: string) => {
      const story = new Story().turn(0.5, 'node-1', 1).tell(1, 'node-2', 'want')
      story.judge.workerKilled('node-3', 1 * SECOND)
      for (let at = 1; at <= 8; at++) {
        story.judge.keyKept('lock', { field: 'id:1', worker: owner }, (at - 1) * SECOND, at * SECOND)
        story.judge.look(at * SECOND)
      }
      return story.judge.violations.map(({ kind }) => kind)
    }
    expect(standing('node-1')).to.deep.equal(['standstill'])
    expect(standing('node-3')).to.be.empty
  })

  it('The judge of a chaos run finds a client silent that could not publish', () => {
    const refused = (message: string) => {
      const { judge } = new Story()
      judge.disturbances.begin('publish-refused', undefined, 2 * SECOND, 'node-1').to = 4 * SECOND
      judge.complained('node-1', message, 3 * SECOND)
      for (let at = 3; at <= 8; at++) judge.look(at * SECOND)
      return judge.violations.map(({ kind }) => kind)
    }
    expect(refused('connect ECONNREFUSED')).to.deep.equal(['silent'])
    expect(refused('the user may not PUBLISH')).to.be.empty
  })

  it('The judge of a chaos run finds an acquisition refused that nothing was taken from', () => {
    const refused = { error: 'REDIS_REFUSED: NOPERM' }
    const story = new Story().tell(1, 'node-1', 'want').tell(2, 'node-1', 'quit', refused)
    expect(story.violations()).to.deep.equal(['unexpected'])
    const explained = new Story()
    explained.judge.disturbances.begin('select-refused', 'node-1', 1.5 * SECOND)
    explained.tell(1, 'node-1', 'want').tell(2, 'node-1', 'quit', refused)
    expect(explained.violations()).to.be.empty
    const refusedLater = (next: boolean) => {
      const story = new Story()
      story.judge.disturbances.begin('select-refused', 'node-1', 1 * SECOND).to = 2 * SECOND
      if (next) story.judge.disturbances.begin('pause-clients', undefined, 3 * SECOND).to = 5 * SECOND
      return story.tell(6, 'node-1', 'want').tell(7, 'node-1', 'quit', refused).violations()
    }
    expect(refusedLater(false)).to.deep.equal(['unexpected'])
    expect(refusedLater(true)).to.be.empty
  })

  it('The chaos judge keeps the trace of a violation: waits, sections and faults', () => {
    const story = new Story()
      .tell(0.5, 'node-1 <i>', 'want')
      .tell(1, 'node-1 <i>', 'in')
      .tell(1.2, 'node-2', 'want')
    story.judge.disturbances.begin('stall', 'node-1 <i>', 1.5 * SECOND).to = 1.8 * SECOND
    story.tell(2, 'node-2', 'in').tell(2.5, 'node-2', 'free').tell(3, 'node-1 <i>', 'out')
    expect(story.violations()).to.deep.equal(['overlap'])
    const [{ trace, what, kind } = expect.fail()] = story.judge.violations
    for (const theme of THEMES) {
      const { timeline, size } = timelineOf(trace!, `${kind}: ${what}`, theme.bars)
      expect(timeline.moment).to.equal(1_500)
      expect(timeline.lanes.map(({ label, bars }) => [label, bars.map(({ waits }) => waits)])).to.deep.equal([
        ['node-1 <i> caller (x)', [true, false]],
        ['node-2 caller (x)', [true, false]],
      ])
      const svg = svgText(drawTimeline(timeline, theme, size))
      expect(svg).to.include('>stall</text>').and.to.include('url(#waits-').and.to.include('overlap: ')
      expect(svg).to.include('node-1 &lt;i&gt;').and.to.not.include('<i>')
    }
  })
})
