import type { WithLockOptions } from 'rlock'
import { decorate } from './decorate'

/** Options of `@WithLock()`. */
export interface WithLockDecoratorOptions extends Pick<WithLockOptions, 'waitTime' | 'leaseTime'> {
  /** The name of the client; absent: the one without a name. */
  client?: string | undefined
}

/**
 * Runs the method under a lock, as `redisson.getLock(name).withLock` does: the call waits for the lock, at most `waitTime`,
 * and rejects with its errors. `key` makes the name of the lock from the arguments of the method. Nothing is added to the
 * name, so methods and services with the same name exclude each other.
 *
 * Rejects with TypeError, and does not call the method, if `key` returns no string or an empty one. The same if the string
 * contains `undefined` or `[object …]`, because then all calls would share one lock.
 */
export function WithLock<A extends unknown[]>(
  key: (...args: A) => string,
  options: WithLockDecoratorOptions = {},
) {
  if (typeof key !== 'function')
    throw new TypeError(
      "@WithLock expects a function that gives the lock's name, such as (order) => order.id",
    )
  const { client, ...rest } = options
  return <M extends (...args: [...A, ...never[]]) => Promise<unknown>>(
    target: object,
    method: string | symbol,
    descriptor: TypedPropertyDescriptor<M>,
  ): void =>
    decorate('WithLock', client, target, method, descriptor as never, async (redisson, args, proceed) =>
      redisson.getLock(checked(key(...(args as A)), target, method)).withLock(proceed, rest),
    )
}

/** In a template string, a missing argument becomes the word `undefined`. */
const MISSING = /(?<![\p{L}\p{N}_])undefined(?![\p{L}\p{N}_])|\[object \w+\]/u

function checked(name: unknown, target: object, method: string | symbol): string {
  const place = () => `@WithLock of ${target.constructor.name}.${String(method)}`
  if (typeof name !== 'string' || name === '')
    throw new TypeError(`${place()}: the lock's name must be a string that is not empty`)
  if (MISSING.test(name))
    throw new TypeError(
      `${place()}: a part of the lock's name ${JSON.stringify(name)} is missing, or is an object`,
    )
  return name
}
