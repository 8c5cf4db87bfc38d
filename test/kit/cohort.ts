import { Cohort, MAX_YIELD } from '../../src/waiting/cohort'
import { VirtualClock } from './virtual-clock'

export function newCohort(): { clock: VirtualClock; turn: Cohort } {
  const clock = new VirtualClock()
  // No test depends on when the clock was started.
  clock.advance(1_000_000)
  return { clock, turn: new Cohort(clock) }
}

/** This process takes the lock and releases it again, for so many others to hear; it hears the release too. */
export function takeTurn(turn: Cohort, others: number): void {
  turn.begin(true)
  turn.release(true)
  turn.hear()
  turn.released(others)
}

/** For how long this process yields until it may try. */
export function yieldTime(turn: Cohort, clock: VirtualClock): number {
  for (let waited = 0; waited <= 10 * MAX_YIELD; waited++) {
    if (turn.yieldTime() === 0) return waited
    clock.advance(1)
  }
  throw new Error('for ever')
}
