import type { Redisson, RLock } from '../../src/index'
import { uniqueName } from '../kit/clients'
import { waitUntil } from '../kit/servers/index'

/** An object that one client closes, so that callers of other clients wait until it opens it again. */
interface Closable {
  /** Resolves with what opens it again. */
  close(redisson: Redisson, name: string): Promise<() => Promise<unknown>>
  enter(redisson: Redisson, name: string): Promise<unknown>
}

/** No test waits for this lease: a waiter that enters was notified, or asked again by itself. */
const LEASE = 60_000

type LockOf = (redisson: Redisson, name: string) => RLock

function closedBy(closing: LockOf, entering = closing): Closable {
  return {
    async close(redisson, name) {
      const hold = await closing(redisson, name).acquire({ leaseTime: LEASE })
      return () => hold.unlock()
    },
    enter: (redisson, name) => entering(redisson, name).acquire(),
  }
}

const CLOSABLES: Readonly<Record<string, Closable>> = {
  lock: closedBy((redisson, name) => redisson.getLock(name)),
  'read lock': closedBy(
    (redisson, name) => redisson.getReadWriteLock(name).writeLock(),
    (redisson, name) => redisson.getReadWriteLock(name).readLock(),
  ),
  'fair lock': closedBy((redisson, name) => redisson.getFairLock(name)),
  semaphore: {
    async close(redisson, name) {
      const semaphore = redisson.getSemaphore(name)
      await semaphore.trySetPermits(1)
      await semaphore.acquire()
      return () => semaphore.release()
    },
    enter: (redisson, name) => redisson.getSemaphore(name).acquire(),
  },
  permits: {
    async close(redisson, name) {
      const permits = redisson.getPermitExpirableSemaphore(name)
      await permits.trySetPermits(1)
      const permit = await permits.acquirePermit()
      return () => permit.release()
    },
    enter: (redisson, name) => redisson.getPermitExpirableSemaphore(name).acquirePermit(),
  },
  latch: {
    async close(redisson, name) {
      const latch = redisson.getCountDownLatch(name)
      await latch.trySetCount(1)
      return () => latch.countDown()
    },
    enter: (redisson, name) => redisson.getCountDownLatch(name).await(),
  },
}

/** A name for an object of each kind. */
export type Names = ReadonlyMap<string, string>

export function nameEach(newName: () => string = uniqueName): Names {
  return new Map(Object.keys(CLOSABLES).map((kind) => [kind, newName()]))
}

/** Closes one object of each kind. Resolves with what opens all of them again. */
export async function closeEach(redisson: Redisson, names: Names): Promise<() => Promise<unknown>> {
  const closed = [...names].map(([kind, name]) => CLOSABLES[kind]!.close(redisson, name))
  const opening = await Promise.all(closed)
  return () => Promise.all(opening.map((open) => open()))
}

/** A caller of each object, and the kinds whose callers have not entered yet. */
export function enterEach(redisson: Redisson, names: Names) {
  const outside = new Set(names.keys())
  for (const [kind, name] of names)
    void CLOSABLES[kind]!.enter(redisson, name).then(
      () => outside.delete(kind),
      // A test that has ended shuts its clients down.
      () => {},
    )
  return {
    outside,
    /** Rejects, naming the kinds that are still outside, if not every caller is inside in time. */
    async allInside(within: number): Promise<void> {
      await waitUntil('every caller is inside', () => outside.size === 0, within).catch(() => {
        throw new Error(`still outside after ${within} ms: ${[...outside].join(', ')}`)
      })
    },
  }
}
