import { expect } from 'chai'
import {
  Cohort,
  MAX_COHORT_DURATION,
  MAX_LOCAL_HANDOFFS,
  MAX_YIELD,
  YIELD_AFTER_PEER,
} from '../../../src/waiting/cohort'
import { newCohort, takeTurn, yieldTime } from '../../kit/cohort'
import type { VirtualClock } from '../../kit/virtual-clock'

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
    while (count < most && turn.takeHandoff()) count++
    return count
  }

  describe('Local handoffs of a cohort', () => {
    it('A cohort hands the lock on without a bound while no other client listens', () => {
      ourTurn(0)
      turn.begin(true)
      expect(handoffsUntilRefused(10 * MAX_LOCAL_HANDOFFS)).to.equal(10 * MAX_LOCAL_HANDOFFS)
    })

    it('A cohort hands the lock on only so often while others listen, and again in the next cohort', () => {
      for (let round = 0; round < 3; round++) {
        ourTurn(1)
        turn.hear()
        turn.begin(true)
        expect(handoffsUntilRefused(10 * MAX_LOCAL_HANDOFFS)).to.equal(MAX_LOCAL_HANDOFFS)
      }
    })

    for (const others of [0, 1])
      it(`A cohort hands the lock on only for so long, with ${others} others`, () => {
        ourTurn(others)
        turn.hear()
        turn.begin(true)
        clock.advance(MAX_COHORT_DURATION - 1)
        expect(turn.takeHandoff()).to.equal(true)
        clock.advance(1)
        expect(turn.takeHandoff()).to.equal(false)
        turn.release(false)
        turn.begin(true)
        expect(turn.takeHandoff()).to.equal(true)
      })

    it('A cohort that has released nothing ends when its time is over, all the same', () => {
      turn.begin(true)
      turn.release(true)
      turn.notReleased(true)
      expect([turn.takeHandoff(), turn.peers.heard]).to.deep.equal([true, 0])
      clock.advance(MAX_COHORT_DURATION)
      expect(turn.takeHandoff()).to.equal(false)
    })

    it('A holder from before the first local waiter starts no cohort', () => {
      expect(new Cohort(clock).takeHandoff()).to.equal(false)
    })
  })

  describe('A cohort that yields', () => {
    it('A process does not yield before its first cohort, or when no other client listens', () => {
      expect(turn.yieldTime()).to.equal(0)
      ourTurn(0)
      expect(turn.yieldTime()).to.equal(0)
    })

    it('A process yields for the same time, however many peers there are', () => {
      for (const others of [1, 2, 100]) {
        turn = new Cohort(clock)
        ourTurn(others)
        expect(yielded()).to.equal(MAX_YIELD)
      }
    })

    it('A process yields until as many releases were heard as there are others', () => {
      ourTurn(2)
      turn.hear()
      expect(turn.yieldTime()).to.be.greaterThan(0)
      turn.hear()
      expect(turn.yieldTime()).to.equal(0)
    })

    it('A process yields again from each release that is heard, and for less than from its own', () => {
      ourTurn(2)
      clock.advance(MAX_YIELD - 1)
      turn.hear()
      expect(turn.yieldTime()).to.equal(YIELD_AFTER_PEER)
      expect(YIELD_AFTER_PEER).to.be.lessThan(MAX_YIELD)
    })

    it('A process yields from when the release was answered, not from when it was sent', () => {
      ourTurn(1)
      turn.hear()
      turn.begin(true)
      turn.release(true)
      expect(turn.yieldTime()).to.equal(MAX_YIELD)
      clock.advance(50)
      turn.hear()
      turn.released(1)
      expect(turn.yieldTime()).to.equal(MAX_YIELD)
    })

    it('A process yields though its own release is heard after the answer to it', () => {
      turn.begin(true)
      turn.release(true)
      turn.released(1)
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
      turn.released(others)
    }

    /** How many sections follow one another until this process yields. */
    function sections(others: number, ms: number): number {
      ourTurn(others)
      turn.hear()
      turn.begin(true)
      for (let count = 1; ; count++) {
        clock.advance(ms)
        releasedForNext(others)
        if (turn.yieldTime() > 0) return count
        turn.begin(true)
      }
    }

    it('A lock without a local handoff goes to the next local caller for a bounded time', () => {
      expect(sections(1, 0)).to.equal(MAX_LOCAL_HANDOFFS + 1)
      expect(sections(1, MAX_COHORT_DURATION / 2)).to.equal(2)
      expect(sections(1, MAX_COHORT_DURATION)).to.equal(1)
    })

    it('A lock without a local handoff is left to the others once one of them was faster', () => {
      ourTurn(2)
      turn.hear()
      turn.hear()
      turn.begin(true)
      releasedForNext(2)
      expect(turn.yieldTime()).to.equal(0)
      turn.hear()
      expect(turn.yieldTime()).to.be.greaterThan(0)
      turn.hear()
      expect(turn.yieldTime()).to.equal(0)
    })
  })

  it('A release that failed takes back no message of another release', () => {
    ourTurn(2)
    turn.release(false)
    turn.release(true)
    turn.notReleased(false)
    turn.hear()
    expect(turn.peers.heard).to.equal(0)
  })

  it('The message of a further release of permits here leaves the turn as it is', () => {
    ourTurn(1)
    turn.hear()
    turn.release(true)
    turn.released(0)
    turn.hear()
    expect(turn.takeHandoff()).to.equal(true)
  })

  it('The last reader releases the lock for all readers, for every number of readers', () => {
    ourTurn(3)
    turn.hear(true)
    expect(turn.yieldTime()).to.equal(0)
  })

  it('A release that this process does not hear itself is none of its own', () => {
    turn.begin(true)
    turn.release(false)
    turn.released(1)
    expect(turn.yieldTime()).to.equal(MAX_YIELD)
    turn.hear()
    expect(turn.yieldTime()).to.equal(0)
  })

  describe('A peer that does not come', () => {
    /** Yields to so many peers that do not come, and acquires the lock again. */
    const missedTurn = (others: number) => {
      const waited = yielded()
      ourTurn(others)
      return waited
    }

    it('A peer that let three turns pass is left out of the count, until it is heard', () => {
      ourTurn(1)
      const waits = [missedTurn(1), missedTurn(1), missedTurn(1), missedTurn(1)]
      expect(waits).to.deep.equal([MAX_YIELD, MAX_YIELD, MAX_YIELD, 0])
      turn.hear()
      ourTurn(1)
      expect(yielded()).to.equal(MAX_YIELD)
    })

    it('A peer that is heard is not left out for one that never comes', () => {
      ourTurn(2)
      for (let misses = 0; misses < 7; misses++) missedTurn(2)
      expect(turn.yieldTime(), 'both are left out').to.equal(0)
      turn.hear()
      ourTurn(2)
      expect(turn.yieldTime()).to.equal(MAX_YIELD)
      turn.hear()
      expect(turn.yieldTime()).to.equal(0)
    })

    it('A peer that does not come does not take the turns of the others along', () => {
      ourTurn(2)
      for (let misses = 0; misses < 3; misses++) {
        turn.hear()
        missedTurn(2)
      }
      expect(turn.yieldTime()).to.equal(MAX_YIELD)
      turn.hear()
      expect(turn.yieldTime()).to.equal(0)
    })

    it('No peer is left out because this process could not wait for it, or did not hear it', () => {
      for (const listening of [true, false]) {
        turn = new Cohort(clock)
        for (let turns = 0; turns < 4; turns++) {
          turn.begin(listening)
          turn.release(false)
          turn.released(1)
          if (!listening) clock.advance(MAX_YIELD)
        }
        turn.begin(true)
        turn.release(false)
        expect(turn.yieldTime()).to.equal(MAX_YIELD)
      }
    })
  })

  describe('Cohorts of a semaphore', () => {
    const release = (others: number) => {
      turn.release(true)
      turn.hear()
      turn.released(others)
    }

    it('Further releases of permits do not make the yield longer', () => {
      turn.begin(true)
      release(1)
      const whole = turn.yieldTime()
      expect(whole).to.be.greaterThan(3)
      clock.advance(3)
      release(1)
      expect(turn.yieldTime()).to.equal(whole - 3)
    })

    it('A process that yielded for as long as it had to does not yield before it acquires', () => {
      turn.begin(true)
      release(1)
      clock.advance(turn.yieldTime())
      release(1)
      expect(turn.yieldTime()).to.equal(0)
      turn.begin(true)
      release(1)
      expect(turn.yieldTime()).to.be.greaterThan(0)
    })

    it('Messages of several own releases are not taken for those of others', () => {
      turn.begin(true)
      turn.release(true)
      turn.release(true)
      turn.hear()
      turn.released(1)
      turn.hear()
      turn.released(1)
      expect(turn.yieldTime()).to.be.greaterThan(0)
      turn.hear()
      expect(turn.yieldTime()).to.equal(0)
    })

    it("Permits are passed on beside the turn's last release, unless others heard one", () => {
      for (const others of [0, 1]) {
        turn.begin(true)
        release(others)
        turn.begin(true)
        turn.release(true)
        expect(turn.takeHandoff()).to.equal(others === 0)
        turn.released(0)
        expect(turn.takeHandoff()).to.equal(true)
      }
    })
  })
})
