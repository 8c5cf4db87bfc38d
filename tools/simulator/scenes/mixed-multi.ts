import type { Redisson } from '../../../src/redisson'
import type { SimulatedObject } from '../judge/history'
import { type Holdable, lockSection } from '../lock-section'
import type { Scene } from '../scene'

const SERVERS = 3
const at = (index: number) => `server ${index + 1}`
/** The locks of one server, with the index of that. */
const SINGLES: readonly (readonly [SimulatedObject, number])[] = [
  [{ kind: 'lock', name: 'a', server: at(0) }, 0],
  [{ kind: 'lock', name: 'b', server: at(1) }, 1],
  [{ kind: 'fenced', name: 'c', server: at(2) }, 2],
  [{ kind: 'write', name: 'd', server: at(0) }, 0],
  [{ kind: 'read', name: 'd', server: at(0) }, 0],
  [{ kind: 'token', name: 'e', server: at(1) }, 1],
  [{ kind: 'non-reentrant', name: 'f', server: at(2) }, 2],
  [{ kind: 'spin', name: 'g', server: at(0) }, 0],
  [{ kind: 'fair', name: 'h', server: at(2) }, 2],
]
const RED: SimulatedObject = {
  kind: 'red',
  name: 'r',
  members: [0, 1, 2].map((index): SimulatedObject => ({ kind: 'lock', name: 'r', server: at(index) })),
}

/** `maker`: the index of the client that makes a lock of several. */
function lockOf(redissons: readonly Redisson[], maker: number, object: SimulatedObject): Holdable {
  const index = SINGLES.find(([each]) => each.name === object.name)?.[1] ?? 0
  const client = redissons[index]!
  switch (object.kind) {
    case 'lock':
      return client.getLock(object.name)
    case 'fair':
      return client.getFairLock(object.name)
    case 'fenced':
      return client.getFencedLock(object.name)
    case 'write':
      return client.getReadWriteLock(object.name).writeLock()
    case 'read':
      return client.getReadWriteLock(object.name).readLock()
    case 'token':
      return client.getTokenLock(object.name)
    case 'non-reentrant':
      return client.getNonReentrantLock(object.name)
    case 'spin':
      return client.getSpinLock(object.name)
    case 'red':
      return redissons[maker]!.getRedLock(...redissons.map((each) => each.getLock('r')))
    default:
      return redissons[maker]!.getMultiLock(
        ...object.members!.map((each) => lockOf(redissons, maker, each) as never),
      )
  }
}

export const mixedMulti: Scene = {
  name: 'mixed-multi',
  about: 'multi locks of members of all kinds, on three servers, some of them RedLocks',
  servers: SERVERS,
  mayHaveReplica: false,
  setUp(choices) {
    const singles = SINGLES.map(([each]) => each)
    const pool = [...singles, RED]
    const sets = Array.from({ length: 5 }, (): SimulatedObject => {
      const members: SimulatedObject[] = []
      const size = choices.pick([2, 3, 4])
      while (members.length < size) {
        const one = choices.pick(pool)
        if (!members.some(({ name }) => name === one.name)) members.push(one)
      }
      return {
        kind: 'multi',
        name: members.map(({ name, kind }) => `${name}${kind === 'read' ? '!' : ''}`).join('+'),
        members,
      }
    })
    return {
      objects: [...singles, RED, ...sets],
      async caller(caller) {
        const { settings, client, choices } = caller
        for (let section = 0; section < settings.sections; section++) {
          const object = choices.weigh([3, 1]) === 0 ? choices.pick(sets) : choices.pick(pool)
          const flat = object.members && object.kind === 'multi' ? object.members : [object]
          const mayReenter = flat.every(({ kind }) => kind !== 'token' && kind !== 'non-reentrant')
          const lock = lockOf(client.redissons, choices.pick([0, 1, 2]), object)
          await lockSection(caller, object, lock, { mayReenter, leases: [1_000, 5_000, 200] })
          await caller.sleep(choices.pick([0, 1, 5]))
        }
      },
    }
  },
}
