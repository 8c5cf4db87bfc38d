import type { WithLockOptions } from 'rlock'
import { decorate } from './decorate'

/** Options of `@WithLock()`. */
export interface WithLockDecoratorOptions
  extends Pick<WithLockOptions, 'waitTime' | 'leaseTime' | 'maxHoldTime'> {
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
      redisson.getLock(key(...(args as A))).withLock(proceed, rest),
    )
}
