import type { RedisCredentials } from '../api/options'
import { systemClock } from '../util/clock'
import { withTimeout } from '../util/timeout'

/** How long a function that failed is not asked again, in ms. */
const FAILED_FOR = 1_000
/** How many of its last passwords no message may contain: connections of several ages may use them. */
const KEPT = 4

/** Asks for the credentials of a connection. */
export type AskForCredentials = () => Promise<RedisCredentials>

/**
 * Wraps the function of the caller. Connections that open at the same time ask once. The last passwords are the end of
 * `secrets`.
 */
export function askFor(given: () => unknown, timeout: number, secrets: string[]): AskForCredentials {
  const others = secrets.length
  const ask = async () => {
    const credentials = await withTimeout(Promise.resolve().then(given), timeout, systemClock, () => {
      throw new Error(`no answer within ${timeout} ms`)
    })
    const { username, password } = (credentials ?? {}) as Partial<RedisCredentials>
    if (typeof password !== 'string' || (username !== undefined && typeof username !== 'string'))
      throw new TypeError('it must return { username, password }, which are text')
    if (password !== '' && !secrets.includes(password)) secrets.push(password)
    if (secrets.length > others + KEPT) secrets.splice(others, 1)
    return { username, password }
  }
  let asking: Promise<RedisCredentials> | undefined
  const forget = () => {
    asking = undefined
  }
  return () => {
    asking ??= ask().then(
      (credentials) => {
        forget()
        return credentials
      },
      (error) => {
        systemClock.after(FAILED_FOR, forget)
        throw new Error(`The credentials function failed: ${error?.message ?? error}`, { cause: error })
      },
    )
    return asking
  }
}
