import { LockQuorumError } from '../../../../src/api/errors'
import type { ClientInternals } from '../../../../src/client/client'
import { FairKind } from '../../../../src/locks/fair-kind'
import { RedLock } from '../../../../src/locks/red-lock'
import { MembersHold } from '../../../../src/multi/members-hold'
import { COLLECT } from '../../../../src/multi/members-lock'
import type { ObjectKind } from '../plan/objects'
import { rewriting } from './rewriting'

/** Objects broken on purpose, each in the way that the locks of others are. */
export const OBJECT_MUTANTS = {
  'fair-never-leaves': 'a waiter of a fair lock that gives up stays in the queue',
  'red-counts-reached': 'a RedLock takes a majority of the servers that it reaches for a quorum',
  'multi-stops-at-lost': 'a multi lock stops releasing at the first member that was lost',
  'token-deletes-any': 'a token lock is released without comparing the token',
  'semaphore-forgets-requests': 'a semaphore releases once more when the reply was lost',
  'permit-unchecked': 'permits are added for a release though the permit was not in use',
  'latch-forgets-requests': 'a latch counts down once more when the reply was lost',
  'latch-silent': 'a latch that reaches zero notifies no waiter',
  'fenced-token-repeats': 'a fenced lock draws a token for every other section only',
} as const

export type ObjectMutant = keyof typeof OBJECT_MUTANTS

export const OBJECT_OF: Readonly<Record<ObjectMutant, readonly ObjectKind[]>> = {
  'fair-never-leaves': ['fair'],
  'red-counts-reached': ['red'],
  'multi-stops-at-lost': ['multi'],
  'token-deletes-any': ['token'],
  'semaphore-forgets-requests': ['semaphore'],
  'permit-unchecked': ['permits'],
  'latch-forgets-requests': ['latch'],
  'latch-silent': ['latch'],
  'fenced-token-repeats': ['fenced'],
}

export const isObjectMutant = (name: string): name is ObjectMutant => name in OBJECT_MUTANTS

export function mutatedObject(mutant: ObjectMutant): ClientInternals {
  switch (mutant) {
    case 'fair-never-leaves':
      Object.assign(FairKind.prototype, { leave: () => ({ answer: Promise.resolve({ value: 0 }) }) })
      return {}
    case 'red-counts-reached':
      countReached()
      return {}
    case 'multi-stops-at-lost':
      Object.assign(MembersHold.prototype, { unlock: oneAfterTheOther })
      return {}
    case 'token-deletes-any':
      return replacing('token-lock/release', "redis.call('get', KEYS[1]) ~= ARGV[1]", 'false')
    case 'semaphore-forgets-requests':
      return replacing('semaphore/release', 'if before then', 'if false then')
    case 'permit-unchecked':
      return replacing(
        'permit-expirable-semaphore/release',
        'if score and not areKnown[id] then',
        'if not areKnown[id] then',
      )
    case 'latch-forgets-requests':
      return replacing('count-down-latch/count-down', 'if before then', 'if false then')
    case 'latch-silent':
      return replacing(
        'count-down-latch/count-down',
        "return notifyOnce(answer, ARGV[2], ARGV[1], '0')",
        'return answer',
      )
    case 'fenced-token-repeats':
      return replacing(
        'fenced-lock/acquire',
        'return nextToken(KEYS[2], ARGV[3])',
        "return redis.call('time')[2] % 10 < 5 and nextToken(KEYS[2], ARGV[3]) or { lastToken(KEYS[2]) }",
      )
  }
}

const replacing = (script: string, sound: string, broken: string): ClientInternals => ({
  transport: rewriting(script, (source) => source.replace(sound, broken)),
})

async function oneAfterTheOther(this: MembersHold): Promise<void> {
  for (const hold of this.holds) await hold.unlock()
}

/** By the servers that answered rather than by those there are. */
function countReached(): void {
  interface Insides {
    group: { readonly needed: number }
  }
  const prototype = RedLock.prototype as unknown as {
    [COLLECT](this: Insides, options: object): Promise<unknown>
  }
  const collect = prototype[COLLECT]
  prototype[COLLECT] = async function (options) {
    try {
      return await collect.call(this, options)
    } catch (error) {
      if (!(error instanceof LockQuorumError)) throw error
      const reached = error.members.filter(
        ({ state }) => state !== 'unreachable' && state !== 'failed',
      ).length
      // By none, no caller is inside.
      if (reached === 0) throw error
      this.group = { ...this.group, needed: Math.floor(reached / 2) + 1 }
      return await collect.call(this, options)
    }
  }
}
