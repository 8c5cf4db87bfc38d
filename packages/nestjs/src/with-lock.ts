import 'reflect-metadata'
import { Inject } from '@nestjs/common'
import type { RedissonClient, RunOnceOptions, WithLockOptions } from 'rlock'
import { getRedissonToken } from './inject'

type Method = (...args: never[]) => Promise<unknown>

/** Runs a call of a decorated method: `proceed` calls the method itself. */
type Around = (redisson: RedissonClient, args: unknown[], proceed: () => unknown) => Promise<unknown>

/**
 * Replaces a method by one that calls `around` with the client of this name. Nest injects the client into a property of the
 * object, so that every caller of the method finds it: requests, jobs, `onModuleInit`.
 */
export function decorate(
  decorator: string,
  client: string | undefined,
  target: object,
  name: string | symbol,
  descriptor: TypedPropertyDescriptor<Method>,
  around: Around,
): void {
  const method = descriptor?.value
  if (typeof target === 'function' || typeof method !== 'function')
    throw new TypeError(
      `@${decorator} is for methods of objects that Nest makes, with TypeScript's experimentalDecorators`,
    )
  const place = `${target.constructor.name}.${String(name)}`
  const property = Symbol.for(`rlock.nestjs.${client ?? 'Redisson'}`)
  Inject(getRedissonToken(client))(target, property)
  const decorated = async function (this: Record<symbol, RedissonClient | undefined>, ...args: unknown[]) {
    const redisson = this?.[property]
    if (!redisson)
      throw new TypeError(
        `@${decorator} of ${place} has no Redisson client: Nest did not make this object. Have Nest make it, as a ` +
          'provider or a controller, or call redisson.getLock(name).withLock() in it',
      )
    return await around(redisson, args, () => method.apply(this, args as never[]))
  }
  copyMarks(method, decorated)
  descriptor.value = decorated as Method
}

/**
 * Copies the metadata of other decorators to the new method: routes, cron expressions, descriptions for Swagger. Decorators
 * above this one add theirs to the new method, so the order of the decorators does not matter.
 */
function copyMarks(from: Method, to: object) {
  for (const key of Reflect.ownKeys(from))
    if (key !== 'prototype') Object.defineProperty(to, key, Object.getOwnPropertyDescriptor(from, key)!)
  for (const key of Reflect.getOwnMetadataKeys(from))
    Reflect.defineMetadata(key, Reflect.getOwnMetadata(key, from), to)
}

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

/** Options of `@RunOnce()`. */
export interface RunOnceDecoratorOptions extends RunOnceOptions {
  /** The name of the client; absent: the one without a name. */
  client?: string | undefined
}

/**
 * For a cron job that every instance starts and that one instance should run. Calls the method as `redisson.runOnce(name, …)`
 * does. Resolves without a call if another instance runs it, or started it less than `atLeast` ms ago.
 */
export function RunOnce(name: string, options: RunOnceDecoratorOptions) {
  const { client, ...rest } = options
  return <M extends (...args: never[]) => Promise<void>>(
    target: object,
    method: string | symbol,
    descriptor: TypedPropertyDescriptor<M>,
  ): void =>
    decorate('RunOnce', client, target, method, descriptor as never, async (redisson, _args, proceed) => {
      await redisson.runOnce(name, proceed, rest)
    })
}

const LONGEST = 200

/** Control characters, and what breaks or turns around the line in which a message is shown. */
const INVISIBLE = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu

/** A name for a log or an error: in quotes, in visible characters, and shortened if it is very long. */
export function quote(name: string): string {
  const short = name.length > LONGEST ? `${name.slice(0, LONGEST)}…` : name
  return JSON.stringify(short).replace(
    INVISIBLE,
    (it) => `\\u${it.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
