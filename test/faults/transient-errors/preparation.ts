import type { Redis } from 'ioredis'
import type { Redisson } from '../../../src/index'
import { suffixed } from '../../../src/scripts/key-names'

export const who = { threadId: 1 }
/** Longer than any trouble lasts. */
export const WAIT = 30_000

/** A call, what it must answer in the end, what Redis must show then, and how the call is made ready. */
export type Preparation = readonly [
  what: string,
  expected: unknown,
  left: readonly string[],
  calling: (redisson: Redisson, name: string) => Promise<() => Promise<unknown>>,
]

/** What Redis has under a name: hold counts, a number, a token; and how many permits are in use. */
export async function stateOf(redis: Pick<Redis, 'type' | 'get' | 'hvals' | 'zcard'>, name: string) {
  const out = await redis.zcard(suffixed(name, 'timeout'))
  return [...(await storedIn(redis, name)), ...(out > 0 ? [`${out} out`] : [])]
}

async function storedIn(redis: Pick<Redis, 'type' | 'get' | 'hvals'>, name: string): Promise<string[]> {
  const type = await redis.type(name)
  if (type === 'hash') return (await redis.hvals(name)).sort()
  if (type === 'none') return []
  const value = (await redis.get(name))!
  return [/^-?\d+$/.test(value) ? value : 'a token']
}
