import { Inject, type InjectionToken } from '@nestjs/common'
import { Redisson } from 'rlock'

/**
 * The token of the client of this name, for `app.get()` and for tests that replace the client. The token of the client
 * without a name is the class `Redisson`.
 */
export function getRedissonToken(name?: string): InjectionToken<Redisson> {
  return name === undefined ? Redisson : `Redisson:${name}`
}

/** Injects the client of this name, or the one without a name, into a constructor's parameter or a property. */
export function InjectRedisson(name?: string): ParameterDecorator & PropertyDecorator {
  return Inject(getRedissonToken(name)) as ParameterDecorator & PropertyDecorator
}
