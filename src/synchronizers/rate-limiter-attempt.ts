import type { PermitsWanted } from '../api/arguments'
import { RateNotSetError } from '../api/errors'
import { script } from '../scripts/script'
import type { ScriptCall } from '../scripts/script-call'
import { quote } from '../util/quote'
import { randomHex } from '../util/random'
import { type Attempt, blocked, type Outcome } from '../waiting/attempt'
import { messagesOf, type Synchronizer } from './synchronizer'

/** Why a request can never be granted: the limiter has no rate, or this one, which is too low. */
export type RateRefusal = 'not set' | { readonly rate: number } | undefined

/** A list, see lua/rate-limiter/acquire.lua. A refusal ends the wait as a grant does. */
function decodeAcquire(raw: unknown): Outcome<RateRefusal> {
  const [answer, value = 0] = (raw as unknown[]).map(Number)
  if (answer === 0) return blocked(Math.max(value, 1))
  return { granted: true, grant: answer === 1 ? undefined : answer === -1 ? 'not set' : { rate: value } }
}

const ACQUIRE = script('rate-limiter/acquire', decodeAcquire)
const CANCEL = script('rate-limiter/cancel', Number)

const ID_BYTES = 8
/**
 * How long the client retries to cancel an acquisition, in ms. Without that, its permits come back when their
 * interval ends.
 */
const CANCELLED_FOR = 60_000

/**
 * One caller's attempt to take permits of a rate limiter. Each try has the same id, so they are granted once
 * at most.
 */
export class RateLimiterAttempt implements Attempt<RateRefusal> {
  readonly waitTime: number
  readonly signal: AbortSignal | undefined
  private readonly id = randomHex(ID_BYTES)

  constructor(
    private readonly limiter: Synchronizer,
    readonly wanted: PermitsWanted,
  ) {
    this.waitTime = wanted.waitTime ?? limiter.client.options.waitTime
    this.signal = wanted.signal
  }

  send(): ScriptCall<Outcome<RateRefusal>> {
    const { client, keys } = this.limiter
    return client.scripts.run(ACQUIRE, keys, [this.wanted.permits, this.id])
  }

  undo(inFlight: ScriptCall<Outcome<RateRefusal>> | undefined): void {
    const { limiter, wanted, id } = this
    const { client, keys } = limiter
    const release = async () => {
      const { value } = await client.scripts.run(CANCEL, keys, [wanted.permits, id, ...messagesOf(limiter)])
        .answer
      client.queues.changed(limiter.target, value)
    }
    client.orphans.afterTry({ lease: CANCELLED_FOR, release }, inFlight)
  }

  assertGranted(refusal: RateRefusal): void {
    const { limiter, wanted } = this
    if (refusal === 'not set') throw notSet(limiter)
    if (refusal)
      throw new RangeError(
        `${wanted.permits} permits of the rate limiter ${quote(limiter.name)} can never be taken: its rate ` +
          `is ${refusal.rate} (client ${limiter.client.clientId})`,
      )
  }
}

export function notSet({ name, client }: Synchronizer): RateNotSetError {
  return new RateNotSetError(
    `The rate limiter ${quote(name)} has no rate (client ${client.clientId}). Call trySetRate() before the ` +
      'first acquisition; it changes nothing where a rate is set.',
    name,
  )
}
