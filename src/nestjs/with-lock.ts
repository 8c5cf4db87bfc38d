import type { WithLockOptions } from '../index'
import { decorate } from './decorate'

/** Options of `@WithLock()`. */
export interface WithLockDecoratorOptions extends Pick<WithLockOptions, 'waitTime' | 'leaseTime'> {
  /** The name of the client; absent: the one without a name. */
  client?: string | undefined
}

/**
 * Runs the method under the lock whose name `key` makes of the method's arguments, as `redisson.getLock(name).withLock`
 * does: the call waits for the lock, at most `waitTime`, and rejects with its errors. Nothing is added to the name, so
 * that methods and services that give the same one exclude each other.
 *
 * Rejects with TypeError, and does not call the method, where `key` gives no string, an empty one, or one in which
 * `undefined` or `[object …]` stands for a part: all calls would share that lock.
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

/** A template makes the word `undefined` of an argument that is missing. */
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
