import type { SimulatedObject } from '../judge/history'
import { type AnyHold, lockSection } from '../lock-section'
import type { Scene } from '../scene'
import { sectionsOf } from './sections'

export const plain = sectionsOf({
  name: 'plain',
  about: 'one or two plain locks',
  kind: 'lock',
  java: 'lock',
  lock: (redisson, name) => redisson.getLock(name),
})

export const fair = sectionsOf({
  name: 'fair',
  about: 'one or two fair locks',
  kind: 'fair',
  java: 'fair',
  lock: (redisson, name) => redisson.getFairLock(name),
})

export const fenced = sectionsOf({
  name: 'fenced',
  about: 'one or two fenced locks, whose tokens rise',
  kind: 'fenced',
  java: 'fenced',
  lock: (redisson, name) => redisson.getFencedLock(name),
  token: (hold) => (hold as AnyHold & { token: number }).token,
})

export const nonReentrant = sectionsOf({
  name: 'non-reentrant',
  about: 'one or two non-reentrant locks',
  kind: 'non-reentrant',
  lock: (redisson, name) => redisson.getNonReentrantLock(name),
  mayReenter: false,
})

export const spin = sectionsOf({
  name: 'spin',
  about: 'one or two spin locks',
  kind: 'spin',
  lock: (redisson, name) => redisson.getSpinLock(name),
})

export const token = sectionsOf({
  name: 'token',
  about: 'one or two token locks',
  kind: 'token',
  lock: (redisson, name) => redisson.getTokenLock(name),
  mayReenter: false,
})

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
      async caller(caller) {
        const { settings, redisson, choices: own } = caller
        for (let section = 0; section < settings.sections; section++) {
          const name = own.pick(names)
          const lock = redisson.getReadWriteLock(name)
          const reads = own.weigh([1, 1]) === 0
          const object: SimulatedObject = { kind: reads ? 'read' : 'write', name }
          const stepsDown = !reads && own.happens(0.2)
          // Readers with different leases are inside together for a while.
          const length = reads ? own.pick([undefined, undefined, 30, 100, 400]) : undefined
          await lockSection(caller, object, reads ? lock.readLock() : lock.writeLock(), {
            ...(length === undefined ? {} : { way: { length } }),
            ...(stepsDown ? { stepsDownTo: { object: { kind: 'read', name }, lock: lock.readLock() } } : {}),
          })
          await caller.sleep(own.pick([0, 1, 5]))
        }
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
      async caller(caller) {
        const { settings, redisson, choices } = caller
        for (let section = 0; section < settings.sections; section++) {
          const object = choices.weigh([2, 1]) === 0 ? choices.pick(sets) : single(choices.pick(NAMES))
          const members = (object.members ?? []).map(({ name }) => redisson.getLock(name))
          const lock = object.members ? redisson.getMultiLock(...members) : redisson.getLock(object.name)
          await lockSection(caller, object, lock, { mayReenter: false })
          await caller.sleep(choices.pick([0, 1, 5]))
        }
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
      async caller(caller) {
        const { settings, client, redisson, choices } = caller
        for (let section = 0; section < settings.sections / 2; section++) {
          const lock = redisson.getRedLock(...client.redissons.map((each) => each.getLock('one')))
          await lockSection(caller, object, lock, { leases: LEASES })
          await caller.sleep(choices.pick([0, 1, 5]))
        }
      },
    }
  },
}
