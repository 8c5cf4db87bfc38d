import 'reflect-metadata'
import { Inject } from '@nestjs/common'
import type { RedissonClient } from '../index'
import { getRedissonToken } from './inject'

type Method = (...args: never[]) => Promise<unknown>

/** Runs a call of a decorated method: `proceed` calls the method itself. */
type Around = (redisson: RedissonClient, args: unknown[], proceed: () => unknown) => Promise<unknown>

/**
 * Puts `around` around a method, with the client of this name. Nest injects the client into a property of the object,
 * so that it is there wherever the method is called from: requests, jobs, `onModuleInit`.
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
 * What other decorators have written on the method: routes, cron expressions, what Swagger shows. Decorators above this
 * one write on what replaces it, so that the order does not matter.
 */
function copyMarks(from: Method, to: object) {
  for (const key of Reflect.ownKeys(from))
    if (key !== 'prototype') Object.defineProperty(to, key, Object.getOwnPropertyDescriptor(from, key)!)
  for (const key of Reflect.getOwnMetadataKeys(from))
    Reflect.defineMetadata(key, Reflect.getOwnMetadata(key, from), to)
}
