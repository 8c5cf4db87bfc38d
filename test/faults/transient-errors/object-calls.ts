import type { RCountDownLatch, Redisson, RLock, RSemaphore } from '../../../src/index'
import { type Preparation, WAIT, who } from './preparation'

const LEASE = 60_000

type LockOf = (redisson: Redisson, name: string) => Pick<RLock, 'lock' | 'tryLock' | 'unlock'>

/** The locks beside the plain one: what they acquire and what they release. */
const LOCKS: Record<string, { readonly of: LockOf; readonly held: readonly string[] }> = {
  'fair lock': { of: (r, name) => r.getFairLock(name), held: ['1'] },
  'non-reentrant fair lock': { of: (r, name) => r.getNonReentrantFairLock(name), held: ['1'] },
  'fenced lock': { of: (r, name) => r.getFencedLock(name), held: ['1'] },
  'non-reentrant lock': { of: (r, name) => r.getNonReentrantLock(name), held: ['1'] },
  'spin lock': { of: (r, name) => r.getSpinLock(name), held: ['1'] },
  'token lock': { of: (r, name) => r.getTokenLock(name), held: ['a token'] },
  'multi lock': { of: (r, name) => r.getMultiLock(r.getLock(name), r.getFairLock(`${name}:2`)), held: ['1'] },
}

const OF_LOCKS = Object.entries(LOCKS).flatMap(([kind, { of, held }]): Preparation[] => [
  [`lock() of a ${kind}`, undefined, held, async (r, name) => () => of(r, name).lock(who)],
  [`tryLock(wait) of a ${kind}`, true, held, async (r, name) => () => of(r, name).tryLock(WAIT)],
  [
    `unlock() of a ${kind}`,
    undefined,
    [],
    async (r, name) => {
      const lock = of(r, name)
      await lock.lock(who)
      return () => lock.unlock(who)
    },
  ],
])

/** Of five permits, each time. */
function permitted(
  what: string,
  expected: unknown,
  left: number,
  call: (semaphore: RSemaphore) => Promise<unknown>,
): Preparation {
  const calling: Preparation[3] = async (r, name) => {
    const semaphore = r.getSemaphore(name)
    await semaphore.trySetPermits(5)
    return () => call(semaphore)
  }
  return [`${what} of a semaphore`, expected, [String(left)], calling]
}

const OF_SEMAPHORES: readonly Preparation[] = [
  permitted('acquire(2)', undefined, 3, (semaphore) => semaphore.acquire(2)),
  permitted('tryAcquire(2, wait)', true, 3, (semaphore) => semaphore.tryAcquire(2, WAIT)),
  permitted('withPermits()', 'done', 5, (semaphore) => semaphore.withPermits(() => 'done')),
  permitted('release(2)', undefined, 7, (semaphore) => semaphore.release(2)),
  permitted('releaseIfExists(2)', true, 7, (semaphore) => semaphore.releaseIfExists(2)),
  permitted('addPermits(2)', undefined, 7, (semaphore) => semaphore.addPermits(2)),
  permitted('drainPermits()', 5, 0, (semaphore) => semaphore.drainPermits()),
  [
    'trySetPermits(5) of a semaphore',
    true,
    ['5'],
    async (r, name) => () => r.getSemaphore(name).trySetPermits(5),
  ],
]

type Permits = ReturnType<Redisson['getPermitExpirableSemaphore']>

/** Of five permits one is out, each time. */
function leased(
  what: string,
  expected: unknown,
  left: readonly string[],
  call: (permits: Permits, id: string) => Promise<unknown>,
): Preparation {
  const calling: Preparation[3] = async (r, name) => {
    const permits = r.getPermitExpirableSemaphore(name)
    await permits.trySetPermits(5)
    const id = await permits.acquire()
    return () => call(permits, id)
  }
  return [`${what} of an expirable semaphore`, expected, left, calling]
}

const OF_PERMITS: readonly Preparation[] = [
  leased('acquire(2)', 2, ['2', '3 out'], async (permits) => {
    const ids = await permits.acquire({ permits: 2, leaseTime: LEASE })
    return ids.length
  }),
  leased('acquirePermit()', true, ['3', '2 out'], async (permits) => (await permits.acquirePermit()).isHeld),
  leased('withPermit()', 'done', ['4', '1 out'], (permits) => permits.withPermit(() => 'done')),
  leased('release(id)', undefined, ['5'], (permits, id) => permits.release(id)),
  leased('tryRelease([id])', 1, ['5'], (permits, id) => permits.tryRelease([id])),
  leased('updateLeaseTime()', true, ['4', '1 out'], (permits, id) => permits.updateLeaseTime(id, LEASE)),
  leased('setPermits(7)', undefined, ['6', '1 out'], (permits) => permits.setPermits(7)),
  leased('addPermits(2)', undefined, ['6', '1 out'], (permits) => permits.addPermits(2)),
]

/** Of a count of two, each time. */
function counted(
  what: string,
  expected: unknown,
  left: readonly string[],
  call: (latch: RCountDownLatch) => Promise<unknown>,
): Preparation {
  const calling: Preparation[3] = async (r, name) => {
    const latch = r.getCountDownLatch(name)
    await latch.trySetCount(2)
    return () => call(latch)
  }
  return [`${what} of a latch`, expected, left, calling]
}

const OF_LATCHES: readonly Preparation[] = [
  counted('countDown()', undefined, ['1'], (latch) => latch.countDown()),
  counted('delete()', true, [], (latch) => latch.delete()),
  [
    'trySetCount(2) of a latch',
    true,
    ['2'],
    async (r, name) => () => r.getCountDownLatch(name).trySetCount(2),
  ],
  [
    'await() of a latch',
    true,
    [],
    async (r, name) => () => r.getCountDownLatch(name).await({ waitTime: WAIT }),
  ],
]

export const OBJECT_CALLS: readonly Preparation[] = [
  ...OF_LOCKS,
  ...OF_SEMAPHORES,
  ...OF_PERMITS,
  ...OF_LATCHES,
]
