import type { JavaThread } from '../../test/kit/java'

/** One object of the peer, called from one of its threads: its methods by name. Times are numbers, units are names. */
export type JavaObject = <T = unknown>(
  method: string,
  ...args: readonly (string | number | readonly string[])[]
) => Promise<T>

export function javaObject(thread: JavaThread, getter: string, name: string): JavaObject {
  return async <T>(method: string, ...args: readonly (string | number | readonly string[])[]) =>
    (await thread.ask<T>('call', { getter, name, method, args })).value
}
