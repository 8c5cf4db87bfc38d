import { IllegalMonitorStateError, type LockLostError, type LockMember } from '../api/errors'
import type { Timer } from '../util/clock'
import type { Union } from './member'
import { failureOf, stateOf } from './member-states'
import type { Part } from './try-member'

/** How long a caller waits for releases that cannot change the result, in ms. */
const LONGEST_WAIT = 1_000

interface Outcome {
  readonly part: Part
  state: 'pending' | 'released' | 'failed'
  error?: unknown
}

/**
 * Releases all parts at once, even if some of them fail, and then reports. A RedLock does not need the releases of a
 * minority: they may still be in flight when this resolves, and go on in the background.
 */
export function releaseAll(
  { clock, needed, of }: Union,
  parts: readonly Part[],
  wasHeld: boolean,
  lossError: (members: readonly LockMember[]) => LockLostError,
): Promise<void> {
  const outcomes = parts.map((part): Outcome => ({ part, state: 'pending' }))
  return new Promise((resolve, reject) => {
    const started = clock.now()
    let isLate = false
    let isEnough = false
    let moment: Timer | undefined
    const count = (is: (outcome: Outcome) => boolean) => outcomes.filter(is).length
    const check = () => {
      const isSettled = outcomes.every(({ state }) => state !== 'pending')
      const released = count(({ state }) => state === 'released')
      const isLost = !wasHeld || count(wasLost) > parts.length - needed
      // The members that may stay held are so few that the others still make a quorum.
      const isFree = parts.length - released <= of - needed
      if (!isLost && released >= needed && !isSettled)
        moment ??= clock.after(clock.elapsedSince(started), enough)
      const isDone = isSettled || isEnough || (isLate && (isLost || isFree))
      if (!isDone) return
      timer.cancel()
      moment?.cancel()
      if (isLost) reject(lossError(outcomes.map(toMember)))
      else if (released >= needed || isFree) resolve()
      else reject(outcomes.find(({ state }) => state === 'failed')?.error)
    }
    // The remaining releases get as much time again, so that the next caller finds all members free.
    const enough = () => {
      isEnough = true
      check()
    }
    const timer = clock.after(LONGEST_WAIT, () => {
      isLate = true
      check()
    })
    for (const outcome of outcomes)
      outcome.part.hold.unlock().then(
        () => {
          outcome.state = 'released'
          check()
        },
        (error) => {
          outcome.state = 'failed'
          outcome.error = error
          check()
        },
      )
  })
}

/** The hold of the member was lost, or other code released the member by itself. */
function wasLost({ error }: Outcome): boolean {
  return error instanceof IllegalMonitorStateError
}

function toMember(outcome: Outcome): LockMember {
  const { part, state, error } = outcome
  if (state === 'released') return stateOf(part.member, 'released')
  if (state === 'pending') return stateOf(part.member, 'unreachable')
  return stateOf(part.member, wasLost(outcome) ? 'lost' : failureOf(error), error)
}
