import type { JavaLockKind } from '../java-model/client'
import type { ObjectKind, SimulatedObject } from '../judge/history'
import { type AnyHold, lockSection, type SectionOptions } from '../lock-section'
import { repeat } from '../operation'
import type { Scene } from '../scene'
import { javaLockSection, javaThreads } from './java'
import { lockOf } from './lock-of'

interface Kind extends SectionOptions {
  /** Of the scene, where it is not that of the kind. */
  readonly name?: string
  readonly about: string
  /** How Java has it, where it has it alike. */
  readonly java?: JavaLockKind
}

/** A scene in which all callers take one or two locks of one kind, in every way. */
function locksOf(kind: ObjectKind, { name = kind, about, java, ...options }: Kind): Scene {
  return {
    ...{ name, about },
    setUp(choices) {
      const names = choices.pick([['one'], ['one', 'two']])
      const objects: SimulatedObject[] = names.map((each) => ({ kind, name: each }))
      return {
        objects,
        ...(java && {
          javaCaller: javaThreads((caller) => javaLockSection(caller, caller.choices.pick(objects), java)),
        }),
        caller(caller) {
          return repeat(caller, caller.settings.sections, () => {
            const object = caller.choices.pick(objects)
            return lockSection(caller, object, lockOf(caller.redisson, object), options)
          })
        },
      }
    },
  }
}

export const plain = locksOf('lock', { name: 'plain', about: 'one or two plain locks', java: 'lock' })
export const fair = locksOf('fair', { about: 'one or two fair locks', java: 'fair' })
export const fenced = locksOf('fenced', {
  ...{ about: 'one or two fenced locks, whose tokens rise', java: 'fenced' },
  token: (hold) => (hold as AnyHold & { token: number }).token,
})
export const nonReentrant = locksOf('non-reentrant', {
  ...{ about: 'one or two non-reentrant locks', mayReenter: false },
})
export const spin = locksOf('spin', { about: 'one or two spin locks' })
export const token = locksOf('token', { about: 'one or two token locks', mayReenter: false })

export const readWrite: Scene = {
  name: 'read-write',
  about: 'a read-write lock: readers, writers, and writers that step down to readers',
  setUp(choices) {
    const names = choices.pick([['one'], ['one', 'two']])
    const objects = names.flatMap((name): SimulatedObject[] => [
      { kind: 'read', name },
      { kind: 'write', name },
    ])
    return {
      objects,
      caller(caller) {
        const { settings, redisson, choices: own } = caller
        return repeat(caller, settings.sections, () => {
          const name = own.pick(names)
          const lock = redisson.getReadWriteLock(name)
          const reads = own.weigh([1, 1]) === 0
          const object: SimulatedObject = { kind: reads ? 'read' : 'write', name }
          const stepsDown = !reads && own.happens(0.2)
          // Readers with different leases are inside together for a while.
          const length = reads ? own.pick([undefined, undefined, 30, 100, 400]) : undefined
          return lockSection(caller, object, reads ? lock.readLock() : lock.writeLock(), {
            ...(length === undefined ? {} : { way: { length } }),
            ...(stepsDown ? { stepsDownTo: { object: { kind: 'read', name }, lock: lock.readLock() } } : {}),
          })
        })
      },
    }
  },
}

const NAMES = ['a', 'b', 'c']
/** Sets that overlap, in different orders. */
const SETS = [
  ['a', 'b'],
  ['b', 'a'],
  ['b', 'c'],
  ['c', 'a', 'b'],
]

export const multi: Scene = {
  name: 'multi',
  about: 'multi locks whose members overlap, beside callers of single members',
  setUp() {
    const single = (name: string): SimulatedObject => ({ kind: 'lock', name })
    const sets = SETS.map(
      (names): SimulatedObject => ({ kind: 'multi', name: names.join('+'), members: names.map(single) }),
    )
    return {
      objects: [...NAMES.map(single), ...sets],
      caller(caller) {
        const { settings, redisson, choices } = caller
        return repeat(caller, settings.sections, () => {
          const object = choices.weigh([2, 1]) === 0 ? choices.pick(sets) : single(choices.pick(NAMES))
          const members = (object.members ?? []).map(({ name }) => redisson.getLock(name))
          const lock = object.members ? redisson.getMultiLock(...members) : redisson.getLock(object.name)
          return lockSection(caller, object, lock, { mayReenter: false })
        })
      },
    }
  },
}

const SERVERS = 5
/** Each member is asked for a tenth of the lease at most, which must be longer than a round trip. */
const LEASES = [1_000, 5_000, 200]

export const red: Scene = {
  name: 'red',
  about: 'a RedLock of five servers',
  servers: SERVERS,
  mayHaveReplica: false,
  setUp() {
    const members = Array.from(
      { length: SERVERS },
      (_, index): SimulatedObject => ({ kind: 'lock', name: 'one', server: `server ${index + 1}` }),
    )
    const object: SimulatedObject = { kind: 'red', name: 'one', members }
    return {
      objects: [object],
      caller(caller) {
        const { settings, client, redisson } = caller
        return repeat(caller, settings.sections / 2, () => {
          const lock = redisson.getRedLock(...client.redissons.map((each) => each.getLock('one')))
          return lockSection(caller, object, lock, { leases: LEASES })
        })
      },
    }
  },
}
