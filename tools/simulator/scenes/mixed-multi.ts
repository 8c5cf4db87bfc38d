import type { Redisson } from '../../../src/redisson'
import type { SimulatedObject } from '../judge/history'
import { type Holdable, lockSection } from '../lock-section'
import { repeat } from '../operation'
import type { Scene } from '../scene'
import { lockOf } from './lock-of'

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
function anyLockOf(redissons: readonly Redisson[], maker: number, object: SimulatedObject): Holdable {
  const index = SINGLES.find(([each]) => each.name === object.name)?.[1] ?? 0
  if (object.kind === 'red')
    return redissons[maker]!.getRedLock(...redissons.map((each) => each.getLock('r')))
  if (object.kind !== 'multi') return lockOf(redissons[index]!, object)
  const members = object.members!.map((each) => anyLockOf(redissons, maker, each) as never)
  return redissons[maker]!.getMultiLock(...members)
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
      caller(caller) {
        const { settings, client, choices } = caller
        return repeat(caller, settings.sections, () => {
          const object = choices.weigh([3, 1]) === 0 ? choices.pick(sets) : choices.pick(pool)
          const flat = object.members && object.kind === 'multi' ? object.members : [object]
          const mayReenter = flat.every(({ kind }) => kind !== 'token' && kind !== 'non-reentrant')
          const lock = anyLockOf(client.redissons, choices.pick([0, 1, 2]), object)
          return lockSection(caller, object, lock, { mayReenter, leases: [1_000, 5_000, 200] })
        })
      },
    }
  },
}
