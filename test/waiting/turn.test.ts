import { expect } from 'chai'
import { LONGEST_STAY_BACK, LONGEST_TURN, MOST_HAND_OVERS, Turn } from '../../src/waiting/turn'
import { VirtualClock } from '../read-write/model/virtual-clock'

/** For how long those who did not come are not waited for again. */
const ABSENT_FOR = 100

describe('whose turn it is', () => {
  let clock: VirtualClock
  let turn: Turn

  beforeEach(() => {
    clock = new VirtualClock()
    // Nothing here depends on when the clock was started.
    clock.advance(1_000_000)
    turn = new Turn(clock)
  })

  /** The lock is taken here and released again, for so many others to hear; we hear it too. */
  function ourTurn(others: number) {
    turn.ask(true)
    turn.begin()
    turn.release()
    turn.hear()
    turn.released(others)
  }

  /** How long we stay back until we may ask. */
  function stayedBack(): number {
    for (let waited = 0; waited <= 10 * LONGEST_STAY_BACK; waited++) {
      if (turn.stayBack() === 0) return waited
      clock.advance(1)
    }
    throw new Error('for ever')
  }

  const handOversUntilRefused = (most: number) => {
    let count = 0
    while (count < most && turn.handOver()) count++
    return count
  }

  describe('the lock is handed over', () => {
    it('as often as one likes while nobody else listens', () => {
      ourTurn(0)
      turn.begin()
      expect(handOversUntilRefused(10 * MOST_HAND_OVERS)).to.equal(10 * MOST_HAND_OVERS)
    })

    it('only so often while others listen, and again in the next turn', () => {
      for (let round = 0; round < 3; round++) {
        ourTurn(1)
        turn.hear()
        turn.begin()
        expect(handOversUntilRefused(10 * MOST_HAND_OVERS)).to.equal(MOST_HAND_OVERS)
      }
    })

    for (const others of [0, 1])
      it(`only for so long, with ${others} others`, () => {
        ourTurn(others)
        turn.hear()
        turn.begin()
        clock.advance(LONGEST_TURN - 1)
        expect(turn.handOver()).to.equal(true)
        clock.advance(1)
        expect(turn.handOver()).to.equal(false)
        turn.begin()
        expect(turn.handOver()).to.equal(true)
      })

    it('not by one who had it before anybody waited here', () => {
      expect(new Turn(clock).handOver()).to.equal(false)
    })
  })

  describe('one stays back', () => {
    it('not at all before the first turn, or when nobody else listens', () => {
      expect(turn.stayBack()).to.equal(0)
      ourTurn(0)
      expect(turn.stayBack()).to.equal(0)
    })

    it('for each of the others in turn, and for no longer than is bound', () => {
      const times = [1, 2, 3, 4, 100].map((others) => {
        turn = new Turn(clock)
        ourTurn(others)
        return stayedBack()
      })
      const [one, two, three, four, hundred] = times as [number, number, number, number, number]
      expect(one).to.be.greaterThan(0)
      expect([two, three]).to.deep.equal([2 * one, 3 * one])
      expect([four, hundred]).to.deep.equal([LONGEST_STAY_BACK, LONGEST_STAY_BACK])
    })

    it('until as many releases were heard as there are others', () => {
      ourTurn(2)
      turn.hear()
      expect(turn.stayBack()).to.be.greaterThan(0)
      turn.hear()
      expect(turn.stayBack()).to.equal(0)
    })

    it('anew from each release that is heard', () => {
      ourTurn(2)
      const alone = turn.stayBack() / 2
      clock.advance(2 * alone - 1)
      turn.hear()
      expect(turn.stayBack()).to.equal(alone)
    })

    it('from when the release was answered, not from when it was sent', () => {
      ourTurn(1)
      const full = turn.stayBack()
      turn.hear()
      turn.begin()
      turn.release()
      expect(turn.stayBack()).to.equal(LONGEST_STAY_BACK)
      clock.advance(50)
      turn.hear()
      turn.released(1)
      expect(turn.stayBack()).to.equal(full)
    })

    it('though its own release is heard after the answer to it', () => {
      turn.begin()
      turn.release()
      turn.released(1)
      turn.hear()
      expect(turn.stayBack()).to.be.greaterThan(0)
      turn.hear()
      expect(turn.stayBack()).to.equal(0)
    })

    it('no longer when those who listened have left', () => {
      ourTurn(3)
      turn.hear()
      ourTurn(0)
      expect(turn.stayBack()).to.equal(0)
    })
  })

  describe('those who did not come', () => {
    beforeEach(() => {
      ourTurn(2)
      turn.hear()
      // One came, the other did not, and now the lock is ours again.
      expect(stayedBack()).to.be.greaterThan(0)
    })

    it('are not waited for again for a while, while the others are', () => {
      ourTurn(2)
      const one = stayedBack()
      expect(one).to.be.greaterThan(0)
      ourTurn(1)
      expect(turn.stayBack()).to.equal(0)
      clock.advance(ABSENT_FOR)
      turn.hear()
      ourTurn(2)
      expect(stayedBack()).to.equal(2 * one)
    })

    it('are not counted by asking for a lock that one does not get', () => {
      turn.ask(true)
      clock.advance(1)
      turn.hear()
      turn.ask(true)
      turn.begin()
      turn.release()
      turn.hear()
      turn.released(2)
      const stayed = stayedBack()
      turn = new Turn(clock)
      ourTurn(2)
      expect(stayed).to.equal(stayedBack())
    })
  })
})
