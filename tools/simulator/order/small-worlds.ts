import type { Redisson } from '../../../src/redisson'
import type { ObjectKind, SimulatedObject } from '../judge/history'
import { type Holdable, lockSection } from '../lock-section'
import { operation } from '../operation'
import type { Caller, Scene } from '../scene'
import { permitSection } from '../scenes/permits'
import { semaphoreSection } from '../scenes/semaphore'

/** Two clients with one caller each, one name, one section each. Named as the scene of the same object. */
function smallWorld(
  name: string,
  objects: readonly SimulatedObject[],
  play: (caller: Caller, isFirst: boolean) => Promise<unknown>,
  begin?: (caller: Caller) => Promise<void>,
): Scene {
  return {
    name,
    about: 'a small world',
    mayHaveReplica: false,
    setUp: () => ({
      objects,
      ...(begin ? { begin } : {}),
      async caller(caller) {
        if (caller.name.endsWith('.1')) await play(caller, caller.name === 'c1.1')
      },
    }),
  }
}

function lockWorld(name: string, kind: ObjectKind, lock: (redisson: Redisson) => Holdable): Scene {
  const object = { kind, name: 'one' }
  return smallWorld(name, [object], (caller) =>
    lockSection(caller, object, lock(caller.redisson), { way: { length: 2, pieces: 2 } }),
  )
}

const WRITE = { kind: 'write', name: 'one' } as const
const READ = { kind: 'read', name: 'one' } as const
const SEMAPHORE = { kind: 'semaphore', name: 'one' } as const
const PERMITS = { kind: 'permits', name: 'one' } as const
const LATCH = { kind: 'latch', name: 'one' } as const
const told = (ok: boolean) => ({ ok })
const ONE = { operation: 'set', units: 1 } as const

export const smallWorlds: readonly Scene[] = [
  lockWorld('plain', 'lock', (redisson) => redisson.getLock('one')),
  smallWorld('read-write', [WRITE, READ], (caller, isFirst) => {
    const lock = caller.redisson.getReadWriteLock('one')
    const options = { way: { length: 2, pieces: 2 } }
    return isFirst
      ? lockSection(caller, WRITE, lock.writeLock(), options)
      : lockSection(caller, READ, lock.readLock(), options)
  }),
  lockWorld('fair', 'fair', (redisson) => redisson.getFairLock('one')),
  lockWorld('fenced', 'fenced', (redisson) => redisson.getFencedLock('one')),
  lockWorld('spin', 'spin', (redisson) => redisson.getSpinLock('one')),
  lockWorld('token', 'token', (redisson) => redisson.getTokenLock('one')),
  smallWorld(
    'semaphore',
    [SEMAPHORE],
    (caller) => semaphoreSection(caller, SEMAPHORE, 1),
    async ({ redisson, ...rest }) => {
      const set = () => redisson.getSemaphore('one').trySetPermits(1)
      await operation({ redisson, ...rest }, 'first', { ...ONE, object: SEMAPHORE }, set, told)
    },
  ),
  smallWorld(
    'permits',
    [PERMITS],
    (caller) => permitSection(caller, PERMITS),
    async ({ redisson, ...rest }) => {
      const set = () => redisson.getPermitExpirableSemaphore('one').trySetPermits(1)
      await operation({ redisson, ...rest }, 'first', { ...ONE, object: PERMITS }, set, told)
    },
  ),
  smallWorld(
    'latch',
    [LATCH],
    (caller, isFirst) => {
      const latch = caller.redisson.getCountDownLatch('one')
      if (isFirst)
        return operation(caller, caller.name, { object: LATCH, operation: 'count-down' }, () =>
          latch.countDown(),
        )
      const asked = { object: LATCH, operation: 'await', wait: 4_000 } as const
      return operation(caller, caller.name, asked, () => latch.await({ waitTime: 4_000 }), told)
    },
    async ({ redisson, ...rest }) => {
      const set = () => redisson.getCountDownLatch('one').trySetCount(1)
      await operation({ redisson, ...rest }, 'first', { ...ONE, object: LATCH }, set, told)
    },
  ),
]
