import { RedisRefusedError, RedisUnavailableError, WrongTypeError } from '../api/errors'
import { isKeyRefused, lacksScripts, NOT_SENT } from '../redis/reply/errors'
import { quote } from '../util/quote'
import { withoutStack } from '../util/without-stack'
import { suffixed } from './key-names'
import type { AnyScriptCall } from './script-call'

/** The end of the names of keys that belong to one client. */
const CLIENT_ID = /:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Why a call is not sent yet. */
export const NOT_READY = {
  loading: new Error('the server has not finished the handshake: it loads its data, or does not answer'),
  away: NOT_SENT,
}

const NO_SCRIPTS =
  'The server runs no Lua scripts, and every call of this package is one. Use a server that has EVAL and ' +
  'EVALSHA under these names; in Valkey, load its Lua module.'

/**
 * The part of a call that its error names. The call knows its key, but not the name of the lock nor its
 * thread.
 */
type EndedCall = Pick<AnyScriptCall, 'script' | 'keys' | 'mayHaveBeenApplied' | 'isInFlight'>

export function wrongType({ keys }: EndedCall, clientId: string, cause: Error): WrongTypeError {
  return new WrongTypeError(
    `The key ${quote(keys[0]!)} holds something else than an object of this kind (client ${clientId}). ` +
      'Use another name, or the getter of the kind that the key holds.',
    { cause },
  )
}

export function unavailable(
  { script, keys, mayHaveBeenApplied, isInFlight }: EndedCall,
  clientId: string,
  ms: number,
  cause?: Error,
): RedisUnavailableError {
  const why = cause ? `: ${cause.message}` : ''
  const effect = mayHaveBeenApplied || isInFlight ? ' The call may have been applied.' : ''
  const message =
    `Redis did not answer ${script.name} for the key ${quote(keys[0]!)} within ${Math.round(ms)} ms ` +
    `(client ${clientId})${why}.${effect} Check the connection to Redis.`
  return withoutStack(() => new RedisUnavailableError(message, cause && { cause }))
}

/** The call threw in this client while it was sent, or its answer was none that the script gives. */
export function failedHere(
  { script, keys }: EndedCall,
  clientId: string,
  cause: Error,
): RedisUnavailableError {
  return new RedisUnavailableError(
    `The call ${script.name} for the key ${quote(keys[0]!)} failed in this client (client ${clientId}): ` +
      `${cause.message}. The call may have been applied. Check what stands between this package and Redis: ` +
      'a proxy, or code that patches ioredis.',
    { cause },
  )
}

export function refused({ script, keys }: EndedCall, clientId: string, cause: Error): RedisRefusedError {
  const remedy = lacksScripts(cause)
    ? NO_SCRIPTS
    : (missingKeyRights(keys, cause) ?? 'Check the credentials and the rights of the Redis user.')
  return new RedisRefusedError(
    `Redis refused ${script.name} for the key ${quote(keys[0]!)} (client ${clientId}): ` +
      `${cause.message}. ${remedy}`,
    cause.message,
    { cause },
  )
}

/** Names the keys to which the user needs access; undefined if the server's reply is not about a key. */
function missingKeyRights([key = '', ...companions]: readonly string[], cause: Error): string | undefined {
  if (!isKeyRefused(cause)) return undefined
  const beside = suffixed(key, '')
  const patterns = companions.map((companion) =>
    companion.startsWith(beside) ? `${beside}*` : companion.replace(CLIENT_ID, ':*'),
  )
  const needed = Array.from(new Set([key, ...patterns]), (each) => `~${quote(each).slice(1, -1)}`)
  return `The user needs ${needed.join(' and ')}.`
}
