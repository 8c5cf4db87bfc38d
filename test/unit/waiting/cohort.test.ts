import { expect } from 'chai'
import {
  Cohort,
  MAX_COHORT_DURATION,
  MAX_LOCAL_HANDOFFS,
  MAX_YIELD,
  mayPass,
  pause,
  type Turns,
} from '../../../src/waiting/cohort'
import { newCohort, takeTurn, yieldTime } from '../../kit/cohort'
import type { VirtualClock } from '../../kit/virtual-clock'

const NOW = 1_000_000
/** A process whose last turn has just ended, and one other client heard that. */
const ENDED: Turns = {
  turn: undefined,
  handoffs: 0,
  peers: 1,
  heard: 0,
  since: NOW,
  missed: 0,
  misses: 0,
  until: 0,
}
const INSIDE: Partial<Turns> = { turn: NOW, since: NOW - 5 }

describe('The rule of a cohort, case by case', () => {
  const pauses: readonly (readonly [what: string, turns: Partial<Turns>, ms: number])[] = [
    ['no other client listens', { peers: 0 }, 0],
    ['one peer had no turn', {}, 5],
    ['three peers had no turn', { peers: 3 }, 15],
    ['more peers than three had no turn', { peers: 40 }, 15],
    ['two of three peers had their turn', { peers: 3, heard: 2 }, 5],
    ['all peers had their turn', { peers: 3, heard: 3 }, 0],
    ['the own message is still to come', { heard: -1 }, 5],
    ['a part of the time is over', { since: NOW - 3 }, 2],
    ['the time is over', { since: NOW - 5 }, 0],
    ['the release is not answered yet', { since: Number.POSITIVE_INFINITY }, MAX_YIELD],
    [
      'the release is not answered, and no peer was there before',
      { peers: 0, since: Number.POSITIVE_INFINITY },
      0,
    ],
    ['the turn of this process goes on', { turn: NOW }, 0],
    ['a peer missed a turn', { misses: 1, until: NOW + 1 }, 20],
    ['a peer missed two turns', { misses: 2, until: NOW + 1 }, 60],
    ['a peer missed two turns long ago', { misses: 2, until: NOW }, 5],
    ['a peer missed three turns', { missed: 1, misses: 3, until: NOW + 1 }, 0],
    ['one of two peers missed three turns', { peers: 2, missed: 1, misses: 3, until: NOW + 1 }, 5],
    ['a peer missed three turns, and was left out for long enough', { missed: 1, misses: 3, until: NOW }, 5],
    ['the same, and it missed the next turn', { misses: 4, until: NOW + 1 }, 20],
    ['the same, and it missed the turn after that', { misses: 5, until: NOW }, 60],
    ['a peer missed six turns', { missed: 1, misses: 6, until: NOW + 1 }, 0],
  ]
  for (const [what, turns, ms] of pauses)
    it(`A process yields for ${ms} ms where ${what}`, () => {
      expect(pause({ ...ENDED, ...turns }, NOW)).to.equal(ms)
    })

  const passes: readonly (readonly [what: string, turns: Partial<Turns>, may: boolean])[] = [
    ['its turn has just begun', INSIDE, true],
    ['its turn has ended', {}, false],
    [
      'its turn lasts for a moment less than it may',
      { ...INSIDE, turn: NOW - MAX_COHORT_DURATION + 1 },
      true,
    ],
    ['its turn has lasted as long as it may', { ...INSIDE, turn: NOW - MAX_COHORT_DURATION }, false],
    ['its turn had one handoff less than it may', { ...INSIDE, handoffs: MAX_LOCAL_HANDOFFS - 1 }, true],
    ['its turn had as many handoffs as it may', { ...INSIDE, handoffs: MAX_LOCAL_HANDOFFS }, false],
    [
      'its turn had more, and no other client listens',
      { ...INSIDE, peers: 0, handoffs: 10 * MAX_LOCAL_HANDOFFS },
      true,
    ],
  ]
  for (const [what, turns, may] of passes)
    it(`A process ${may ? 'may pass the lock on' : 'must release the lock'} where ${what}`, () => {
      expect(mayPass({ ...ENDED, ...turns }, NOW)).to.equal(may)
    })
})

describe('The cohort policy of a process', () => {
  let clock: VirtualClock
  let turn: Cohort

  beforeEach(() => {
    ;({ clock, turn } = newCohort())
  })

  const ourTurn = (others: number) => takeTurn(turn, others)
  const yielded = () => yieldTime(turn, clock)

  const handoffsUntilRefused = (most: number) => {
    let count = 0
    while (count < most && turn.handOff()) count++
    return count
  }

  describe('Local handoffs of a cohort', () => {
    it('A cohort hands the lock on without a bound while no other client listens', () => {
      ourTurn(0)
      turn.begin()
      expect(handoffsUntilRefused(10 * MAX_LOCAL_HANDOFFS)).to.equal(10 * MAX_LOCAL_HANDOFFS)
    })

    it('A cohort hands the lock on only so often while others listen, and again in the next cohort', () => {
      for (let round = 0; round < 3; round++) {
        ourTurn(1)
        turn.hear()
        turn.begin()
        expect(handoffsUntilRefused(10 * MAX_LOCAL_HANDOFFS)).to.equal(MAX_LOCAL_HANDOFFS)
      }
    })

    for (const others of [0, 1])
      it(`A cohort hands the lock on only for so long, with ${others} others`, () => {
        ourTurn(others)
        turn.hear()
        turn.begin()
        clock.advance(MAX_COHORT_DURATION - 1)
        expect(turn.handOff()).to.equal(true)
        clock.advance(1)
        expect(turn.handOff()).to.equal(false)
        turn.begin()
        expect(turn.handOff()).to.equal(true)
      })

    it('A holder from before the first local waiter starts no cohort', () => {
      expect(new Cohort(clock).handOff()).to.equal(false)
    })
  })

  describe('A cohort that yields', () => {
    it('A process does not yield before its first cohort, or when no other client listens', () => {
      expect(turn.yieldTime()).to.equal(0)
      ourTurn(0)
      expect(turn.yieldTime()).to.equal(0)
    })

    it('A process yields for each of its peers, and no longer than a bound', () => {
      const times = [1, 2, 3, 4, 100].map((others) => {
        turn = new Cohort(clock)
        ourTurn(others)
        return yielded()
      })
      const [one, two, three, four, hundred] = times as [number, number, number, number, number]
      expect(one).to.be.greaterThan(0)
      expect([two, three]).to.deep.equal([2 * one, 3 * one])
      expect([four, hundred]).to.deep.equal([3 * one, 3 * one])
    })

    it('A process yields until as many releases were heard as there are others', () => {
      ourTurn(2)
      turn.hear()
      expect(turn.yieldTime()).to.be.greaterThan(0)
      turn.hear()
      expect(turn.yieldTime()).to.equal(0)
    })

    it('A process yields again from each release that is heard', () => {
      ourTurn(2)
      const alone = turn.yieldTime() / 2
      clock.advance(2 * alone - 1)
      turn.hear()
      expect(turn.yieldTime()).to.equal(alone)
    })

    it('A process yields from when the release was answered, not from when it was sent', () => {
      ourTurn(1)
      const full = turn.yieldTime()
      turn.hear()
      turn.begin()
      turn.release(true)
      expect(turn.yieldTime()).to.equal(MAX_YIELD)
      clock.advance(50)
      turn.hear()
      turn.released(1, true)
      expect(turn.yieldTime()).to.equal(full)
    })

    it('A process yields though its own release is heard after the answer to it', () => {
      turn.begin()
      turn.release(true)
      turn.released(1, true)
      turn.hear()
      expect(turn.yieldTime()).to.be.greaterThan(0)
      turn.hear()
      expect(turn.yieldTime()).to.equal(0)
    })

    it('A process stops yielding when its peers have left', () => {
      ourTurn(3)
      turn.hear()
      ourTurn(0)
      expect(turn.yieldTime()).to.equal(0)
    })
  })

  describe('A lock without a local handoff', () => {
    /** It is released while a caller waits here that it cannot be handed to; so many others hear it. */
    function releasedForNext(others: number) {
      turn.release(true, true)
      turn.hear()
      turn.released(others, true)
    }

    /** How many sections follow one another until this process yields. */
    function sections(others: number, ms: number): number {
      ourTurn(others)
      turn.hear()
      turn.willTry(true)
      turn.begin()
      for (let count = 1; ; count++) {
        clock.advance(ms)
        releasedForNext(others)
        if (turn.yieldTime() > 0) return count
        turn.willTry(true)
        turn.begin()
      }
    }

    it('A lock without a local handoff is released to the next caller here only so often and for so long', () => {
      expect(sections(1, 0)).to.equal(MAX_LOCAL_HANDOFFS + 1)
      expect(sections(1, MAX_COHORT_DURATION / 2)).to.equal(2)
      expect(sections(1, MAX_COHORT_DURATION)).to.equal(1)
    })

    it('A lock without a local handoff is left to the others once one of them was faster', () => {
      ourTurn(2)
      turn.hear()
      turn.hear()
      turn.begin()
      releasedForNext(2)
      expect(turn.yieldTime()).to.equal(0)
      turn.hear()
      expect(turn.yieldTime()).to.be.greaterThan(0)
      turn.hear()
      expect(turn.yieldTime()).to.equal(0)
    })
  })

  it('The last reader releases the lock for all readers, for every number of readers', () => {
    ourTurn(3)
    turn.hear(true)
    expect(turn.yieldTime()).to.equal(0)
  })

  it('A release that this process does not hear itself is none of its own', () => {
    turn.begin()
    turn.release(false)
    turn.released(1, false)
    expect(turn.yieldTime()).to.equal(5)
    turn.hear()
    expect(turn.yieldTime()).to.equal(0)
  })

  it('A caller that comes after the room of this process, once its turn is over, comes late', () => {
    const comesAfter = (ms: number) => {
      clock.advance(ms)
      turn.come()
      turn.willTry(true)
      turn.begin()
      turn.release(true)
      turn.hear()
      return turn.released(1, true)
    }
    expect(comesAfter(0), 'the first one').to.equal(false)
    expect(comesAfter(5)).to.equal(false)
    expect(comesAfter(6)).to.equal(true)
    expect(comesAfter(5)).to.equal(false)
  })

  describe('Cohorts of a semaphore', () => {
    const release = (others: number) => {
      turn.release(true)
      turn.hear()
      turn.released(others, true)
    }

    it('Further releases of permits do not make the yield longer', () => {
      turn.begin()
      release(1)
      const whole = turn.yieldTime()
      expect(whole).to.be.greaterThan(3)
      clock.advance(3)
      release(1)
      expect(turn.yieldTime()).to.equal(whole - 3)
    })

    it('A process that yielded for as long as it had to does not yield before it acquires', () => {
      turn.begin()
      release(1)
      clock.advance(turn.yieldTime())
      turn.willTry(true)
      release(1)
      expect(turn.yieldTime()).to.equal(0)
      turn.begin()
      release(1)
      expect(turn.yieldTime()).to.be.greaterThan(0)
    })

    it('Messages of several own releases are not taken for those of others', () => {
      turn.begin()
      turn.release(true)
      turn.release(true)
      turn.hear()
      turn.released(1, true)
      turn.hear()
      turn.released(1, true)
      expect(turn.yieldTime()).to.be.greaterThan(0)
      turn.hear()
      expect(turn.yieldTime()).to.equal(0)
    })

    it('Permits are not passed on while the release that ended the turn is in flight, and then again where no other client listens', () => {
      turn.begin()
      release(0)
      turn.release(true)
      expect(turn.handOff()).to.equal(false)
      turn.released(0, true)
      expect(turn.handOff()).to.equal(true)
    })
  })
})
