import type { Redis } from 'ioredis'
import type { LockHold, Permit, Redisson } from '../../src/index'
import type { Primitive } from './primitive'

/** What every acquisition as an object has: a LockHold or a Permit. */
export interface Handle {
  readonly isHeld: boolean
  readonly signal: AbortSignal
  release(options?: object): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

export interface HandleOptions {
  readonly leaseTime?: number
  readonly waitTime?: number
}

/** One name of an object whose acquisitions are handles. */
export interface Handles {
  acquire(options?: HandleOptions): Promise<Handle>
  tryAcquire(): Promise<Handle | undefined>
  /** `withLock` or `withPermit`. */
  within<T>(fn: (handle: Handle) => T | Promise<T>, options?: HandleOptions): Promise<T>
}

/** What the suite of handles must know of a kind of object. */
export interface HandleKind {
  /** As a title names one: `lock`, `read lock`. */
  readonly name: string
  /** A thread that has a handle may acquire another one. */
  readonly nests: boolean
  /** The loss and the second release reject with errors of these names. */
  readonly lossName: string
  readonly secondName: string
  /** A lease that one acquisition surely outlasts, in ms. */
  readonly shortLease: number
  /** Its members refuse a call that comes too late, one after the other; the handle itself counts as released. */
  readonly membersRefuse?: true
  /** Called once for each name. */
  prepare?(redisson: Redisson, name: string): Promise<unknown>
  open(redisson: Redisson, name: string): Handles
  /** How many acquisitions the server knows of. */
  held(redis: Redis, name: string): Promise<number>
  /** The server loses what is held, without a message. */
  vanish(redis: Redis, name: string): Promise<unknown>
}

const LOCK_ERRORS = { lossName: 'LockLostError', secondName: 'IllegalMonitorStateError' } as const

/** The part of every lock that the suite uses. */
interface Holding {
  acquire(options?: HandleOptions): Promise<LockHold>
  tryAcquire(): Promise<LockHold | undefined>
  withLock<T>(fn: (hold: LockHold) => T | Promise<T>, options?: HandleOptions): Promise<T>
}

function handleOf(hold: LockHold): Handle {
  return {
    get isHeld() {
      return hold.isHeld
    },
    get signal() {
      return hold.signal
    },
    release: (options) => hold.unlock(options),
    [Symbol.asyncDispose]: () => hold[Symbol.asyncDispose](),
  }
}

function handlesOf(lock: Holding): Handles {
  return {
    acquire: async (options) => handleOf(await lock.acquire(options)),
    async tryAcquire() {
      const hold = await lock.tryAcquire()
      return hold && handleOf(hold)
    },
    within: (fn, options) => lock.withLock((hold) => fn(handleOf(hold)), options),
  }
}

/** The handles of a re-entrant lock of any kind. */
export function lockHandles(primitive: Primitive): HandleKind {
  return {
    ...LOCK_ERRORS,
    name: primitive.name,
    nests: !primitive.nonReentrant,
    shortLease: 80,
    open: (redisson, name) => handlesOf(primitive.create(redisson, name)),
    async held(redis, name) {
      const counts = Object.values(await primitive.holds(redis, name))
      return counts.reduce((sum, count) => sum + count, 0)
    },
    vanish: (redis, name) => redis.del(name),
  }
}

const membersOf = (name: string) => [1, 2, 3].map((each) => `${name}:${each}`)

function union(kind: 'multi' | 'red'): HandleKind {
  return {
    ...LOCK_ERRORS,
    name: `${kind} lock`,
    nests: true,
    membersRefuse: true,
    // A red lock asks each member for a tenth of its lease at most.
    shortLease: kind === 'red' ? 1_500 : 80,
    open(redisson, name) {
      const members = membersOf(name).map((member) => redisson.getLock(member))
      return handlesOf(kind === 'red' ? redisson.getRedLock(...members) : redisson.getMultiLock(...members))
    },
    // The first member stands for all.
    async held(redis, name) {
      const counts = await redis.hvals(membersOf(name)[0]!)
      return Number(counts[0] ?? 0)
    },
    vanish: (redis, name) => redis.del(membersOf(name)),
  }
}

export const multiLockHandles = union('multi')
export const redLockHandles = union('red')

function permitHandle(permit: Permit): Handle {
  return {
    get isHeld() {
      return permit.isHeld
    },
    get signal() {
      return permit.signal
    },
    release: () => permit.release(),
    [Symbol.asyncDispose]: () => permit[Symbol.asyncDispose](),
  }
}

const PERMITS = 5

export const permitHandles: HandleKind = {
  name: 'permit',
  nests: true,
  lossName: 'PermitNotHeldError',
  secondName: 'PermitNotHeldError',
  shortLease: 80,
  prepare: (redisson, name) => redisson.getPermitExpirableSemaphore(name).trySetPermits(PERMITS),
  open(redisson, name) {
    const semaphore = redisson.getPermitExpirableSemaphore(name)
    return {
      acquire: async (options) => permitHandle(await semaphore.acquirePermit(options)),
      async tryAcquire() {
        const permit = await semaphore.tryAcquirePermit()
        return permit && permitHandle(permit)
      },
      within: (fn, options) => semaphore.withPermit((permit) => fn(permitHandle(permit)), options),
    }
  },
  // Permits whose lease has ended are no longer held.
  async held(redis, name) {
    const [seconds] = await redis.time()
    return redis.zcount(`{${name}}:timeout`, Number(seconds) * 1_000 + 999, '+inf')
  },
  vanish: (redis, name) => redis.del(`{${name}}:timeout`),
}
