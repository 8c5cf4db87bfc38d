import { RedisRefusedError, RedisUnavailableError, WrongTypeError } from '../api/errors'
import { suffixed } from '../redis/names'
import type { Script } from './script'

/** The end of the names of keys that belong to one client. */
const CLIENT_ID = /:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** The part of a call that its error names. */
interface EndedCall {
  readonly script: Script
  readonly keys: readonly string[]
}

export function wrongType({ script, keys }: EndedCall, cause: Error): WrongTypeError {
  const what = /^[^/]*lock\//.test(script.name) ? 'lock' : 'object'
  return new WrongTypeError(
    `The key ${quoted(keys[0])} holds no ${what} of this kind: use another name, or the getter of the kind that it holds`,
    { cause },
  )
}

export function unavailable({ script, keys }: EndedCall, ms: number, cause?: Error): RedisUnavailableError {
  const why = cause ? `: ${cause.message}` : ''
  return new RedisUnavailableError(
    `Redis did not answer ${script.name} for ${quoted(keys[0])} within ${Math.round(ms)} ms${why}`,
    cause && { cause },
  )
}

export function refused({ script, keys }: EndedCall, cause: Error): RedisRefusedError {
  return new RedisRefusedError(
    `Redis refused ${script.name} for ${quoted(keys[0])}: ${cause.message}${missingKeyRights(keys, cause)}`,
    cause.message,
    { cause },
  )
}

/** Names the keys to which the user needs access, if the server's reply is about a key. */
function missingKeyRights([key = '', ...companions]: readonly string[], { message }: Error): string {
  if (!/NOPERM|user executing/.test(message) || !/\bkeys?\b/.test(message)) return ''
  const beside = suffixed(key, '')
  const patterns = companions.map((companion) =>
    companion.startsWith(beside) ? `${beside}*` : companion.replace(CLIENT_ID, ':*'),
  )
  return `. The user needs ${[...new Set([key, ...patterns])].map((pattern) => `~${pattern}`).join(' and ')}`
}

function quoted(key = ''): string {
  return JSON.stringify(key.length > 200 ? `${key.slice(0, 200)}…` : key)
}
