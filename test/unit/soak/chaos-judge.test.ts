import { expect } from 'chai'
import { THEMES } from '../../../packages/cli/src/page/timeline'
import { drawTimeline } from '../../../tools/simulator/story/timeline'
import type { Judge } from '../../soak/chaos/evidence/judge'
import type { EvidenceRecord } from '../../soak/chaos/evidence/records'
import { Story } from './chaos-story'

const LOCK = 'chaos:plain'
const story = () => new Story(LOCK)

describe('The judge of a chaos run', () => {
  it('The judge of a chaos run finds nothing wrong with critical sections in order', () => {
    expect(story().turn(1, 'node-1').turn(2, 'java').turn(3, 'node-1').violations()).to.be.empty
  })

  it('The judge of a chaos run finds two holders inside of which the first was not notified', () => {
    expect(story().inside(1, 'node-1').turn(2, 'node-2').tell(3, 'node-1', 'out').violations()).to.deep.equal(
      ['exclusion'],
    )
  })

  it('The chaos judge finds none where the first was notified, also by a late record', () => {
    const told = story().inside(1, 'node-1').inside(2, 'node-2').fault('stall', 'node-1', 1, 3)
    expect(told.tell(1.9, 'node-1', 'lost').violations()).to.be.empty
  })

  it('The judge of a chaos run finds readers in company all right, and a writer among them not', () => {
    const together = (side: 'r' | 'w') =>
      new Story('chaos:records').inside(1, 'node-1', { side: 'r' }).inside(2, 'node-2', { side }).violations()
    expect(together('r')).to.be.empty
    expect(together('w')).to.deep.equal(['exclusion'])
  })

  it('The chaos judge excuses a paused process that checks, and reports one that writes', () => {
    const paused = () =>
      story().inside(1, 'node-1').fault('stop-worker', 'node-1', 1.5, 4).inside(3, 'node-2')
    const checks = paused().tell(4.01, 'node-1', 'lost')
    expect(checks.violations()).to.be.empty
    expect(checks.judge.tally.byFault.get('stop-worker')!.excused).to.deep.equal({ 'stood still': 1 })
    expect(paused().tell(4.01, 'node-1', 'out').violations()).to.deep.equal(['exclusion'])
  })

  it('The chaos judge excuses a holder of Java beside a fault, for nothing tells it of a loss', () => {
    const overtaken = () => story().inside(1, 'java').inside(2, 'node-2').tell(3, 'java', 'out')
    expect(overtaken().fault('stall', 'java', 1.5, 2.5).violations()).to.be.empty
    expect(overtaken().violations()).to.deep.equal(['exclusion'])
  })

  it('The chaos judge excuses company after the server came back without its data', () => {
    const emptied = story().inside(1, 'node-1').fault('restart-empty', undefined, 1.5, 1.6)
    expect(emptied.turn(2, 'node-2').tell(3, 'node-1', 'out').violations()).to.be.empty
  })

  it('The judge of a chaos run counts a killed holder out from when it was killed', () => {
    const killed = story().inside(1, 'node-1').killed(1.5, 'node-1')
    expect(killed.turn(5, 'node-2').violations()).to.be.empty
  })

  it('The chaos judge finds a waiter asleep before a free lock, unless a fault excuses it', () => {
    const waiting = (until: number) => {
      const free = story().turn(1, 'node-1').tell(2, 'node-2', 'want').seen(2.5, [])
      return free.seen(until, []).turn(until, 'node-3')
    }
    expect(waiting(4).violations()).to.be.empty
    expect(waiting(6).fault('kill-subscribers', undefined, 3, 3).violations()).to.be.empty
    expect(waiting(6).violations()).to.deep.equal(['asleep'])
  })

  it('The judge of a chaos run finds a hold lost for no reason, unless its own lease ran out', () => {
    const lost = (more: Partial<EvidenceRecord>) =>
      story().inside(1, 'node-1', more).tell(4, 'node-1', 'lost').violations()
    expect(lost({})).to.deep.equal(['unexplained-loss'])
    expect(lost({ lease: 2_000 })).to.be.empty
  })

  it('The judge of a chaos run finds a lock that a living client keeps without a holder', () => {
    const kept = (worker: string, to: number) => {
      const entered = story()
        .inside(1, worker, { owner: 'id:1' })
        .tell(1.1, worker, 'out')
        .tell(1.2, worker, 'free')
      return entered.seen(2, ['id:2']).seen(to, []).turn(to, 'node-9').violations()
    }
    expect(kept('node-1', 3)).to.be.empty
    expect(kept('node-1', 6)).to.deep.equal(['owners'])
    expect(kept('java', 6)).to.be.empty
  })

  it('The judge of a chaos run finds an acquisition refused that nothing was taken from', () => {
    const refused = () =>
      story().tell(1, 'node-1', 'want').tell(2, 'node-1', 'quit', { error: 'REDIS_REFUSED: NOPERM' })
    expect(refused().violations()).to.deep.equal(['unexpected-error'])
    expect(refused().fault('select-refused', 'node-1', 1.5, 3).violations()).to.be.empty
  })

  it('The chaos judge excuses a client to which the servers are away', () => {
    const kept = (error: string) => {
      const failed = story().turn(0.5, 'node-1', { owner: 'id:1' }).tell(1, 'node-1', 'want')
      failed.seen(1.1, ['id:2']).tell(3, 'node-1', 'quit', { error })
      return failed.seen(5, []).turn(6, 'node-9').violations()
    }
    expect(kept('REDIS_UNAVAILABLE: no answer')).to.be.empty
    expect(kept('20: aborted')).to.deep.equal(['owners'])
  })

  it('The judge of a chaos run judges piece by piece, and says each violation once', () => {
    const overlapping = story().inside(1, 'node-1').turn(2, 'node-2')
    for (let at = 3; at < 30; at++) overlapping.turn(at, `node-${at}`).look(at)
    expect(overlapping.violations()).to.deep.equal(['exclusion'])
  })

  it('The chaos judge keeps what shows a violation: waits, sections and faults', () => {
    const shown = new Story(LOCK).inside(1, 'node-1').fault('stall', 'node-9', 1.5, 1.8).inside(2, 'node-2')
    expect(shown.violations()).to.deep.equal(['exclusion'])
    const [{ shown: { history, violation } = expect.fail(), context } = expect.fail()] =
      shown.judge.violations
    expect(context.join('\n')).to.include('node-2/caller comes into chaos:plain')
    for (const theme of THEMES) {
      const svg = drawTimeline(history, violation, theme)
      expect(svg).to.include('>stall</text>').and.to.include('url(#waits-').and.to.include('exclusion: ')
    }
  })

  describe('Shares', () => {
    /** Both want the lock all the time for 40 s, and every so many turns one goes to the second. */
    const contended = (every: number, second = 'node-2', prepare: (judge: Judge) => void = () => {}) => {
      const contest = story()
      prepare(contest.judge)
      const caller = { caller: 'second' }
      contest.tell(0, second, 'want', caller)
      for (let turn = 1; turn <= 400; turn++) {
        const at = turn / 10
        if (turn % every === 0) {
          contest.tell(at, second, 'in', caller).tell(at + 0.01, second, 'out', caller)
          contest.tell(at + 0.02, second, 'free', caller).tell(at + 0.03, second, 'want', caller)
        } else contest.turn(at, 'node-1')
        if (turn % 10 === 0) contest.look(at)
      }
      return contest.judge.violations.filter(({ kind }) => kind === 'starved')
    }

    it('The chaos judge finds a process below a fifth of its share, and says how little', () => {
      const [starved, ...more] = contended(12)
      expect(more).to.be.empty
      expect(starved!.what).to.match(
        /^node-2 got 2\d sections of chaos:plain where 16\d\.\d were its share \(1\d\.\d %\)/,
      )
      expect(contended(1_000, 'java')).to.have.length(1)
      expect(contended(8)).to.be.empty
    })

    it('The chaos judge excuses a share by a fault that touches that process alone', () => {
      const under = (kind: 'delay' | 'cut-all', worker?: string) =>
        contended(1_000, 'node-2', ({ disturbances }) => {
          disturbances.begin(kind, worker, 15_000_000).to = 25_000_000
        })
      expect(under('delay', 'node-2')).to.be.empty
      expect(under('cut-all')).to.be.empty
      expect(under('delay', 'node-1')).to.have.length(1)
    })

    it('The judge of a chaos run finds no such process that asks seldom, or among readers', () => {
      const seldom = new Story('chaos:records')
      for (let turn = 1; turn <= 400; turn++) {
        seldom.turn(turn / 10, turn % 50 === 0 ? 'node-2' : 'node-1', { side: 'w' })
        seldom.tell(turn / 10, 'node-3', 'want', { side: 'r', caller: 'reader' })
        if (turn % 10 === 0) seldom.look(turn / 10)
      }
      expect(seldom.judge.violations).to.be.empty
    })

    it('The chaos judge excuses a share among readers, but not where writers step down', () => {
      const starved = (caller: string, times = 400) => {
        const write = { side: 'w' } as const
        const read = { side: 'r', caller } as const
        const writers = new Story('chaos:accounts').tell(0, 'node-2', 'want', { ...write, caller: 'second' })
        for (let turn = 1; turn <= 400; turn++) {
          const at = turn / 10
          writers.inside(at, 'node-1', write)
          if (turn <= times) writers.inside(at + 0.01, 'node-1', read).leaves(at + 0.02, 'node-1', read)
          writers.leaves(at + 0.03, 'node-1', write)
          if (turn % 10 === 0) writers.look(at)
        }
        return writers.judge.violations.filter(({ kind }) => kind === 'starved').length
      }
      expect(starved('caller')).to.equal(1)
      expect(starved('reader')).to.equal(0)
      expect(starved('reader', 1)).to.equal(0)
    })

    it('The judge of a chaos run counts the successor of a killed worker as the same process', () => {
      const succeeded = story().tell(0, 'node-2', 'want', { caller: 'second' })
      for (let turn = 1; turn <= 400; turn++) {
        if (turn === 200) succeeded.killed(20, 'node-2').tell(20, "node-2'1", 'want', { caller: 'second' })
        succeeded.turn(turn / 10, 'node-1')
        if (turn % 10 === 0) succeeded.look(turn / 10)
      }
      expect(succeeded.judge.violations[0]!.what).to.match(/^node-2'1 got 0 sections/)
    })

    it('The judge of a chaos run forgets what a Java thread kept by a hold it counted twice', () => {
      const kept = story().tell(0, 'node-2', 'want', { caller: 'second' })
      for (let turn = 1; turn <= 400; turn++) {
        kept.turn(turn / 10, 'java')
        if (turn % 10 !== 0) continue
        kept.judge.progress.keyHeldOn(LOCK, { field: 'id:1', worker: 'java' }, 0, 0, turn * 100_000)
        kept.look(turn / 10)
      }
      expect(kept.judge.violations).to.be.empty
    })
  })

  it('The chaos judge finds a lock that none can acquire, unless a lease must end', () => {
    const standing = (owner: string) => {
      const waited = story().turn(0.5, 'node-1').tell(1, 'node-2', 'want').killed(1, 'node-3')
      for (let at = 1; at <= 8; at++) {
        waited.judge.progress.keyKept(LOCK, owner, (at - 1) * 1_000_000, at * 1_000_000)
        waited.look(at)
      }
      return waited.judge.violations.map(({ kind }) => kind)
    }
    expect(standing('node-1')).to.deep.equal(['standstill'])
    expect(standing('node-3')).to.be.empty
  })

  it('The judge of a chaos run finds a client silent that could not publish', () => {
    const refused = (message: string) => {
      const { judge } = story()
      judge.disturbances.begin('publish-refused', undefined, 2_000_000, 'node-1').to = 4_000_000
      judge.complained('node-1', message, 3_000_000)
      for (let at = 3; at <= 8; at++) judge.look(at * 1_000_000)
      return judge.violations.map(({ kind }) => kind)
    }
    expect(refused('connect ECONNREFUSED')).to.deep.equal(['silent'])
    expect(refused('the user may not PUBLISH')).to.be.empty
  })
})
