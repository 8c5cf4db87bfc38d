import type { Redisson } from '../../../../src/index'
import type { JavaPeer, LockType } from '../../../kit/java/index'

/** One caller inside a section. */
export interface Turn {
  /** Whether the caller still believes that it is inside. */
  readonly isHeld: boolean
  readonly token?: number
  leave(): Promise<unknown>
}

/** A kind of object at which callers take turns. */
export interface Kind {
  readonly name: string
  /** How many callers may be inside together. */
  readonly capacity: number
  /** How many callers of each client take turns. */
  readonly callers?: number
  prepare?(client: Redisson, name: string): Promise<unknown>
  enter(client: Redisson, name: string, signal: AbortSignal, caller: number): Promise<Turn>
  /** The same object of a Java peer, for `--java`. */
  readonly java?: LockType
  /** How many permits are free while no caller has one. */
  free?(client: Redisson, name: string): Promise<number>
}

interface Held {
  readonly isHeld: boolean
  readonly token?: number
  unlock(): Promise<void>
}

const turn = (hold: Held): Turn => ({
  get isHeld() {
    return hold.isHeld
  },
  ...(hold.token !== undefined && { token: hold.token }),
  leave: () => hold.unlock(),
})

/** A turn of a Java thread, which believes that it is inside until it leaves: nothing tells it of a loss. */
export async function enterJava(peer: JavaPeer, name: string, type: LockType): Promise<Turn> {
  const thread = peer.thread(`${type} ${name}`)
  if (type === 'fenced') {
    const token = await thread.lockAndGetToken(name)
    return { isHeld: true, token, leave: () => thread.unlock(name, { type }) }
  }
  await thread.lock(name, { type })
  return { isHeld: true, leave: () => thread.unlock(name, { type }) }
}

type Acquiring = { acquire(options: { signal: AbortSignal }): Promise<Held> }

function lock(
  name: string,
  of: (client: Redisson, name: string, caller: number) => Acquiring,
  more: Pick<Kind, 'callers' | 'java'> = {},
): Kind {
  return {
    name,
    capacity: 1,
    ...more,
    enter: async (client, key, signal, caller) => turn(await of(client, key, caller).acquire({ signal })),
  }
}

function semaphore(name: string, capacity: number, callers: number): Kind {
  return {
    name,
    capacity,
    callers,
    prepare: (client, key) => client.getSemaphore(key).trySetPermits(capacity),
    async enter(client, key, signal) {
      const permits = client.getSemaphore(key)
      await permits.acquire({ signal })
      // A permit has no owner, so its holder cannot lose it.
      return { isHeld: true, leave: () => permits.release() }
    },
    free: (client, key) => client.getSemaphore(key).availablePermits(),
  }
}

const LEASED: Pick<Kind, 'capacity' | 'prepare' | 'free'> = {
  capacity: 1,
  prepare: (client, key) => client.getPermitExpirableSemaphore(key).trySetPermits(1),
  free: (client, key) => client.getPermitExpirableSemaphore(key).availablePermits(),
}

export const KINDS: readonly Kind[] = [
  lock('lock', (client, name) => client.getLock(name), { java: 'lock' }),
  // Two callers of each client: most turns pass by a handoff.
  lock('lock, handed off', (client, name) => client.getLock(name), { callers: 2, java: 'lock' }),
  lock('fair lock', (client, name) => client.getFairLock(name), { java: 'fair' }),
  lock('non-reentrant lock', (client, name) => client.getNonReentrantLock(name)),
  lock('fenced lock', (client, name) => client.getFencedLock(name), { java: 'fenced' }),
  lock('spin lock', (client, name) => client.getSpinLock(name)),
  lock('token lock', (client, name) => client.getTokenLock(name)),
  // A reader of one client, and a writer of the other.
  lock('read-write lock', (client, name, caller) => {
    const both = client.getReadWriteLock(name)
    return caller === 0 ? both.writeLock() : both.readLock()
  }),
  lock('write lock', (client, name) => client.getReadWriteLock(name).writeLock(), { java: 'write' }),
  lock('multi lock', (client, name) =>
    client.getMultiLock(client.getLock(`${name}1`), client.getLock(`${name}2`)),
  ),
  semaphore('semaphore of 1', 1, 1),
  semaphore('semaphore of 3', 3, 3),
  {
    ...LEASED,
    name: 'permit by id',
    async enter(client, key, signal) {
      const permits = client.getPermitExpirableSemaphore(key)
      const [id] = await permits.acquire({ permits: 1, signal })
      return { isHeld: true, leave: () => permits.release(id!) }
    },
  },
  {
    ...LEASED,
    name: 'permit as an object',
    async enter(client, key, signal) {
      const permit = await client.getPermitExpirableSemaphore(key).acquirePermit({ signal })
      return {
        get isHeld() {
          return permit.isHeld
        },
        leave: () => permit.release(),
      }
    },
  },
]
