import { expect } from 'chai'
import { Cohort, MAX_COHORT_DURATION, MAX_LOCAL_HANDOFFS, MAX_YIELD } from '../../../src/waiting/cohort'
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
      turn.released(1)
      expect(turn.yieldTime()).to.equal(full)
    })

    it('A process yields though its own release is heard after the answer to it', () => {
      turn.begin()
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
    turn.released(1)
    expect(turn.yieldTime()).to.equal(5)
    turn.hear()
    expect(turn.yieldTime()).to.equal(0)
  })

  it('A caller that comes after the room of this process, once its turn is over, comes late', () => {
    turn.come()
    expect(turn.comesLate).to.equal(false)
    ourTurn(1)
    clock.advance(5)
    turn.come()
    expect(turn.comesLate).to.equal(false)
    clock.advance(1)
    turn.come()
    expect(turn.comesLate).to.equal(true)
    turn.begin()
    turn.come()
    expect(turn.comesLate).to.equal(false)
  })

  describe('Cohorts of a semaphore', () => {
    const release = (others: number) => {
      turn.release(true)
      turn.hear()
      turn.released(others)
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

    it('A process that yielded for as long as it had to, and was blocked, does not yield before it acquires', () => {
      turn.begin()
      release(1)
      clock.advance(turn.yieldTime())
      turn.willTry(true)
      turn.blocked()
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
      turn.released(1)
      turn.hear()
      turn.released(1)
      expect(turn.yieldTime()).to.be.greaterThan(0)
      turn.hear()
      expect(turn.yieldTime()).to.equal(0)
    })

    it('With a release in flight and no others, permits are passed on for twice as long, and then not', () => {
      turn.begin()
      release(0)
      clock.advance(MAX_COHORT_DURATION)
      expect(turn.handOff()).to.equal(false)
      turn.release(true)
      expect(turn.handOff()).to.equal(true)
      clock.advance(MAX_COHORT_DURATION)
      expect(turn.handOff()).to.equal(false)
      turn.released(0)
      expect(turn.handOff()).to.equal(true)
    })
  })
})
