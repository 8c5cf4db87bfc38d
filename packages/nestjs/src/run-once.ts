import type { RunOnceOptions } from 'rlock'
import { decorate } from './decorate'

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
