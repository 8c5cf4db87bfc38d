import { RedisRefusedError, RedisUnavailableError, WrongTypeError } from '../api/errors'
import { cameFromScript, isKeyRefused, lacksScripts, NOT_SENT } from '../redis/reply/errors'
import { quote } from '../util/quote'
import { withoutStack } from '../util/without-stack'
import { suffixed } from './key-names'
import type { Script } from './script'

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
export interface EndedCall {
  readonly script: Script
  readonly keys: readonly string[]
  /** How long ago the call was made, in ms. */
  readonly age: number
  readonly mayHaveBeenApplied: boolean
  readonly lastError: Error | undefined
  readonly environment: { readonly clientAndServer: string }
}

export function wrongType({ keys, environment }: EndedCall, cause: Error): WrongTypeError {
  return new WrongTypeError(
    `The key ${quote(keys[0]!)} holds something other than an object of this kind (client ` +
      `${environment.clientAndServer}). Use another name, or the getter of the kind that the key holds.`,
    { cause },
  )
}

export function unavailable(call: EndedCall): RedisUnavailableError {
  const { age, lastError: cause, mayHaveBeenApplied } = call
  const why = cause ? `: ${cause.message}` : ''
  const effect = mayHaveBeenApplied ? ' The call may have been applied.' : ''
  const message =
    `Redis did not answer ${named(call)} within ${Math.round(age)} ms (client ` +
    `${call.environment.clientAndServer})${why}.${effect} Check the connection to Redis.`
  return withoutStack(() => new RedisUnavailableError(message, cause && { cause }))
}

/** The call threw in this client while it was sent, or its answer was none that the script gives. */
export function failedHere(call: EndedCall, cause: Error): RedisUnavailableError {
  return new RedisUnavailableError(
    `The call ${named(call)} failed in this client (client ${call.environment.clientAndServer}): ` +
      `${cause.message}. The call may have been applied. Check what stands between this package and Redis: ` +
      'a proxy, or code that patches ioredis.',
    { cause },
  )
}

export function refused(call: EndedCall, cause: Error): RedisRefusedError {
  const remedy = lacksScripts(cause)
    ? NO_SCRIPTS
    : (missingKeyRights(call.keys, cause) ?? 'Check the credentials and the rights of the Redis user.')
  return new RedisRefusedError(
    `Redis refused ${named(call)} (client ${call.environment.clientAndServer}): ${cause.message}. ${remedy}`,
    cause.message,
    { cause },
  )
}

/** Whether the server refused a command within the script, which may have run others before. */
export function isRefusedWithin(error: unknown): boolean {
  return error instanceof RedisRefusedError && cameFromScript(error.cause)
}

function named({ script, keys }: EndedCall): string {
  return `${script.name} for the key ${quote(keys[0]!)}`
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
