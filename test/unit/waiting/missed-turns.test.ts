import { expect } from 'chai'
import type { Cohort } from '../../../src/waiting/cohort'
import { newCohort, takeTurn, yieldTime } from '../../kit/cohort'
import type { VirtualClock } from '../../kit/virtual-clock'

/** For how long a process that never came is not waited for, the first time. */
const ABSENT_AT_FIRST = 200

describe('A process that misses its turn', () => {
  let clock: VirtualClock
  let turn: Cohort

  beforeEach(() => {
    ;({ clock, turn } = newCohort())
  })

  const ourTurn = (others: number) => takeTurn(turn, others)
  const yielded = () => yieldTime(turn, clock)

  /** Yields to others that do not come, and takes the lock again; so many hear the release. */
  function missedTurn(others: number): number {
    const waited = yielded()
    ourTurn(others)
    return waited
  }

  it('A process that misses its turn has a longer room each time, then none for a while, and all of that again', () => {
    ourTurn(1)
    expect([missedTurn(1), missedTurn(1), missedTurn(1)]).to.deep.equal([5, 20, 60])
    expect(turn.yieldTime()).to.equal(0)
    clock.advance(ABSENT_AT_FIRST - 1)
    ourTurn(1)
    expect(turn.yieldTime()).to.equal(0)
    clock.advance(1)
    expect(missedTurn(1)).to.equal(4)
    expect(missedTurn(1)).to.equal(20)
  })

  it('A process that never comes is left out of the count for longer each time', () => {
    ourTurn(1)
    const pauses = Array.from({ length: 5 }, () => {
      for (let misses = 0; misses < 3; misses++) missedTurn(1)
      let pause = 0
      for (; turn.yieldTime() === 0; pause += 100) {
        clock.advance(100)
        ourTurn(1)
      }
      return pause
    })
    expect(pauses).to.deep.equal([200, 400, 800, 1_600, 1_600])
  })

  it('A process that was left out is counted again as soon as it comes, and has the longest room', () => {
    ourTurn(1)
    for (let misses = 0; misses < 3; misses++) missedTurn(1)
    turn.hear()
    ourTurn(1)
    expect(yielded()).to.equal(60)
  })

  it('A process keeps a room that was long enough for three seconds', () => {
    ourTurn(1)
    missedTurn(1)
    const roomAfter = (ms: number) => {
      clock.advance(ms)
      turn.hear()
      ourTurn(1)
      return turn.yieldTime()
    }
    expect([roomAfter(0), roomAfter(2_900), roomAfter(200)]).to.deep.equal([20, 20, 5])
  })

  it('A process that does not listen any more gets no longer room', () => {
    ourTurn(2)
    turn.hear()
    missedTurn(1)
    expect(missedTurn(0)).to.equal(5)
    expect(turn.yieldTime()).to.equal(0)
  })

  it('A process that misses its turn does not take the turns of the others along', () => {
    ourTurn(2)
    for (let misses = 0; misses < 3; misses++) {
      turn.hear()
      missedTurn(2)
    }
    expect(yielded()).to.be.greaterThan(0)
    turn.hear()
    expect(turn.yieldTime()).to.equal(0)
  })

  it('A process has not missed its turn when another one was in, or when this process could not wait or hear', () => {
    ourTurn(1)
    const asks = [
      () => {
        yielded()
        turn.willTry(true)
        turn.willTry(false)
      },
      () => turn.willTry(true),
      () => {
        turn.stopHearing()
        yielded()
        turn.willTry(true)
      },
      () => {
        yielded()
        turn.willTry(true)
        turn.hear()
        turn.willTry(true)
      },
    ]
    for (const ask of asks) {
      ask()
      turn.begin()
      turn.release(true)
      turn.hear()
      turn.released(1, true)
      expect(turn.yieldTime()).to.equal(5)
    }
  })
})
