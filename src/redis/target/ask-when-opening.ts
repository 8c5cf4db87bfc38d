import type { RedisOptions } from 'ioredis'
import type { RedisCredentials } from '../../api/options'
import type { RedisServerOptions } from '../../api/redis-source'
import { systemClock } from '../../util/clock'
import { withTimeout } from '../../util/timeout'

/** How long a function that failed is not asked again, in ms. */
const FAILED_FOR = 1_000
/** How many of its last passwords no message may contain: connections of several ages may use them. */
const KEPT = 4

export type TlsOptions = RedisOptions['tls'] & object

/** What a connection asks for when it opens. ioredis ignores these options. */
export interface AskedWhenOpening {
  readonly credentials?: () => Promise<RedisCredentials>
  readonly askForTls?: () => Promise<TlsOptions>
  readonly askForSentinelTls?: () => Promise<TlsOptions>
}

/** Wraps the function of the caller. The last passwords are the end of `secrets`. */
export function askForCredentials(given: () => unknown, timeout: number, secrets: string[]) {
  const others = secrets.length
  return asked('credentials', given, timeout, (credentials): RedisCredentials => {
    const { username, password } = (credentials ?? {}) as Partial<RedisCredentials>
    if (typeof password !== 'string' || (username !== undefined && typeof username !== 'string'))
      throw new TypeError('it must return { username, password }, which are text')
    if (password !== '' && !secrets.includes(password)) secrets.push(password)
    if (secrets.length > others + KEPT) secrets.splice(others, 1)
    return { username, password }
  })
}

/**
 * Options whose `tls` is a function of the caller have options that ask it in its place. `{}` stands for what
 * it returns.
 */
export function askingForTls(options: RedisOptions, timeout: number): RedisOptions & AskedWhenOpening {
  const { tls, sentinelTLS } = options as Pick<RedisServerOptions, 'tls' | 'sentinelTLS'>
  const ask = (given: () => unknown) => asked('tls', given, timeout, tlsOptions)
  return {
    ...options,
    ...(typeof tls === 'function' && { tls: {}, askForTls: ask(tls) }),
    ...(typeof sentinelTLS === 'function' && { sentinelTLS: {}, askForSentinelTls: ask(sentinelTLS) }),
  }
}

function tlsOptions(given: unknown): TlsOptions {
  if (typeof given === 'object' && given !== null) return given
  throw new TypeError('it must return an object of options for tls.connect')
}

/** Connections that open at the same time ask once. */
function asked<T>(what: string, given: () => unknown, timeout: number, read: (given: unknown) => T) {
  let asking: Promise<T> | undefined
  const forget = () => {
    asking = undefined
  }
  const ask = async () => {
    try {
      const answer = await withTimeout(Promise.resolve().then(given), timeout, systemClock, () => {
        throw new Error(`no answer within ${timeout} ms`)
      })
      const options = read(answer)
      forget()
      return options
    } catch (error) {
      systemClock.after(FAILED_FOR, forget)
      throw new Error(`The ${what} function failed: ${(error as Error)?.message ?? error}`, { cause: error })
    }
  }
  return () => {
    asking ??= ask()
    return asking
  }
}
