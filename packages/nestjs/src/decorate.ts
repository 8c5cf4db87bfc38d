import 'reflect-metadata'
import { Inject } from '@nestjs/common'
import type { RedissonClient } from 'rlock'
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
