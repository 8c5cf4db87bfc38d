import { LockLostError, type Redisson } from 'rlock'
import { argumentsReader, checkOptions, positive, quote } from 'rlock/internal'
import { checkedClient } from './leased-object'
import { InFlightError, KeyReusedError } from './once-errors'
import { begin, finish } from './runs'

/** How a value is stored. */
export interface Codec<T> {
  encode(value: T): string
  decode(text: string): T
}

/** Options of `once()`. */
export interface OnceOptions<T> {
  /** For how long the result is stored after the end of the run, in ms. */
  keep: number
  /** What distinguishes the request from another one with the same key: the hash of a body. */
  fingerprint?: string | undefined
  /** How long to wait for a run that goes on, in ms; 0: not at all; absent: as the client says. Then rejects with InFlightError. */
  waitTime?: number | undefined
  /** Called with what `fn` throws. What it returns is stored and returned in place of a value; undefined: nothing is stored. */
  storeError?: ((error: unknown) => T | undefined) | undefined
  /** @default JSON: a Date becomes a string, a Map becomes {}; undefined stays undefined */
  codec?: Codec<T> | undefined
}

/** The argument of the function of `once()`. */
export interface OnceTask {
  /** Aborts as soon as the client knows that it has lost the key: another caller may run. */
  readonly signal: AbortSignal
}

/** The result of `once()`. */
export interface OnceResult<T> {
  /** Whether `fn` ran in this call. */
  readonly first: boolean
  /** What `fn` returned. In the other calls it has passed through the codec. */
  readonly value: T
}

const JSON_OR_NOTHING: Codec<unknown> = {
  encode: (value) => (value === undefined ? '' : JSON.stringify(value)),
  decode: (text) => (text === '' ? undefined : JSON.parse(text)),
}

const readWait = argumentsReader<{ waitTime?: number | undefined }>(['waitTime'])

/**
 * Runs `fn` once for this key: the first caller runs it, and the others, in all processes, get its value. The client renews the
 * key while `fn` runs, so `fn` may take any time. The value is stored for `keep` ms, and only if the key is still the
 * caller's: a caller that lost it overwrites nothing. If the process dies, or `fn` throws, the next caller runs.
 *
 * A value that cannot be encoded rejects, after `fn` has run, and is not stored.
 *
 * A process may die after `fn` has had its effect and before the value is stored, and then the next caller runs `fn` again.
 *
 * The core's `runOnce` is for jobs at a tick: it keeps no value, and the others do not wait.
 * @throws TypeError for a value that JSON, or the codec, has no text for.
 * @throws {@link InFlightError} when another call with this key did not end within `waitTime`.
 * @throws {@link KeyReusedError} when the stored value has another fingerprint.
 * @throws LockLostError when the key was lost while `fn` ran. Its `result` is what `fn` returned.
 * @throws RedisUnavailableError when the value could not be stored. The client goes on with that until its lease ends.
 * @example
 * ```ts
 * import { once } from '@rlock/recipes'
 * const { first, value } = await once(redisson, 'pay:42', ({ signal }) => charge(order, { signal }), { keep: 86_400_000 })
 * ```
 */
export async function once<T>(
  redisson: Redisson,
  key: string,
  fn: (task: OnceTask) => T | Promise<T>,
  options: OnceOptions<T>,
): Promise<OnceResult<T>> {
  const client = checkedClient(redisson)
  const { keep, fingerprint, waitTime, storeError, codec } = checkedOptions(fn, options)
  const begun = await begin(client, key, waitTime ?? client.options.waitTime)
  if (!begun)
    throw new InFlightError(
      `Another call with the key ${quote(key)} is running (client ${client.clientId}). Try again later.`,
      key,
    )
  const { grant, lease, run } = begun
  if (!lease) {
    const { value: text, fingerprint: stored } = grant.stored!
    if (fingerprint && stored && fingerprint !== stored)
      throw new KeyReusedError(
        `The key ${quote(key)} was used before for another request (client ${client.clientId}). Use a new key.`,
        key,
      )
    return { first: false, value: codec.decode(text) }
  }
  const task: OnceTask = {
    get signal() {
      lease.checkLive()
      return lease.signal
    },
  }
  let value: T
  let text: string
  try {
    value = await resultOf(fn, task, storeError)
    text = codec.encode(value)
    if (typeof text !== 'string')
      throw new TypeError(
        `once stores text, and its codec (JSON by default) has none for this ${typeof value}`,
      )
  } catch (error) {
    // The caller gets this error. If the release fails, too, it goes on in the background.
    await lease.release().catch(() => {})
    throw error
  }
  try {
    await lease.release(() => finish(run, lease.owner, { value: text, fingerprint }, keep))
  } catch (error) {
    if (error instanceof LockLostError) error.result = value
    throw error
  }
  return { first: true, value }
}

async function resultOf<T>(
  fn: (task: OnceTask) => T | Promise<T>,
  task: OnceTask,
  storeError: OnceOptions<T>['storeError'],
): Promise<T> {
  try {
    return await fn(task)
  } catch (error) {
    const instead = storeError?.(error)
    if (instead === undefined) throw error
    return instead
  }
}

function checkedOptions<T>(fn: unknown, options: OnceOptions<T>) {
  if (typeof fn !== 'function') throw new TypeError('once expects a function')
  checkOptions(options, ['keep', 'fingerprint', 'waitTime', 'storeError', 'codec'])
  const { fingerprint = '', storeError, codec = JSON_OR_NOTHING as Codec<T> } = options
  if (typeof fingerprint !== 'string') throw new TypeError('fingerprint must be a string')
  if (storeError !== undefined && typeof storeError !== 'function')
    throw new TypeError('storeError must be a function')
  if (typeof codec?.encode !== 'function' || typeof codec.decode !== 'function')
    throw new TypeError('codec must have encode() and decode()')
  const keep = Math.ceil(positive('keep', options.keep))
  const { waitTime } = readWait({ waitTime: options.waitTime })
  return { keep, fingerprint, waitTime, storeError, codec }
}
