import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'

const TESTS = join(__dirname, '..')

/** Names of Redisson's tests, by the title of the test of ours that asks the same. */
type Counterparts = Readonly<Record<string, string>>

/** The same of RLock, its fair lock and its spin lock. */
const OF_ANY_LOCK: Counterparts = {
  'A wait for a ${a} ends in time, beside a caller that waits on (A7)': 'testTryLockWait',
  "A forced release of a ${a} ends its own client's holds at once (C5)": 'testForceUnlock',
  "A waiter for a ${a} acquires when a dead holder's lease ends (A6)": 'testExpire',
  'A waiter acquires the lock of a killed process when its lease ends (A6)': 'testAutoExpire',
  'A logical thread re-enters a ${a} through any object and in child threads':
    'testGetHoldCount testReentrancy',
  'A ${a} counts and answers by caller, and thread ids are local to a client': `testIsHeldByCurrentThreadOtherThread
    testIsHeldByCurrentThread testIsLockedOtherThread testIsLocked`,
  'unlock() of a ${a} that is not held is an error that names it (C4)': 'testUnlockFail testLockUnlock',
}

const OF_LOCK_AND_SPIN_LOCK: Counterparts = {
  'A call to an unreachable server rejects at the end of its own wait (guarantee 8)': 'testRedisFailed',
  'Of waiters for a ${a} that leave when woken, one is served (A2)': 'testLockUninterruptibly',
}

const CONCURRENCY =
  'testConcurrency_SingleInstance testConcurrencyLoop_MultiInstance testConcurrency_MultiInstance'

/** Redisson's tests at 4.7, those of RedLock at 3.16.8; the base classes of these have helpers and no tests. */
const JAVA_TESTS: Record<string, Counterparts> = {
  RedissonLockTest: {
    ...OF_ANY_LOCK,
    ...OF_LOCK_AND_SPIN_LOCK,
    'No subscription is left after 5,000 tasks over five names (A4)': 'testSubscriptionsPerConnection',
    'Connections to a standalone server are two, and shutdown() closes them and no other': 'testSinglePubSub',
    'A request for a ${a} that is aborted as it is granted is released and not renewed (A8)':
      'testLockIsNotRenewedAfterInterruptedTryLock',
    'A partial unlock() of a ${a} leaves the lease of the other levels (B5)': 'testRemainTimeToLive2',
    'A lock held by this client answers its levels and the remaining lease': 'testRemainTimeToLive',
    'In a cluster names with balanced braces, spaces or umlauts are locked and waited for': 'testInCluster',
    'MOVED storm: every call succeeds as the slot goes back and forth, one error at most':
      'testLockFailoverInCluster',
    'The watchdog renews a hold that follows and meets many tries of its client':
      'testConcurrencyTryLockUnLock',
    '4 processes of 4 callers lose none of 10,000 updates, without waits for a lease': CONCURRENCY,
  },
  RedissonReadWriteLockTest: {
    'After a read release the key lives as long as the longest remaining read hold (C7)': `testReadLockExpiration
      testReadLockLeaseTimeoutDiffThreadsRRW`,
    'isLocked() answers for both sides in every state, also while the writer reads (C10)':
      'testReadLockIsLocked',
    'Read holds are renewed in batches, each hold with all its read timeout keys':
      'testReadLockExpirationRenewal',
    'A read-write lock whose name has a hash tag is read and written, and leaves nothing': 'testName',
    'An inner lease of a ${a} never shortens the outer one (guarantee 6)': 'testWriteLockExpiration',
    'A reader whose timeout key migrates later keeps its hold: ${what} (D6)': 'testInCluster',
    "A waiter for a ${a} acquires when a dead holder's lease ends (A6)": `testReadLockLeaseTimeoutDiffThreadsWRR
      testExpireWrite`,
    'Readers leave no read timeout key behind when their levels end one by one': 'testReadLockLeaseTimeout',
    'Stepping down works through withLock, the inner hold being released first or last': 'testWR',
    'While a writer steps down only it may read, and other callers of the client wait':
      'testWriteReadReentrancy testWriteLock',
    'All queued readers enter when one may, without one of them leaving first (guarantee 3)': 'testWriteRead',
    'Readers share, within a client and across clients': 'testMultiRead testExpireRead',
    'A forced release of a free or other side answers false and changes nothing': 'testForceUnlock',
    'The write hold and the read hold of a writer are both renewed while both are held': 'testReadWriteTTL',
    'A waiter acquires the lock of a killed process when its lease ends (A6)': 'testAutoExpire',
    'A logical thread re-enters a ${a} through any object and in child threads':
      'testHoldCount testReentrancy',
    'A ${a} counts and answers by caller, and thread ids are local to a client': `testIsHeldByCurrentThreadOtherThread
      testIsHeldByCurrentThread testIsLockedOtherThread testIsLocked`,
    'unlock() of a ${a} that is not held is an error that names it (C4)': 'testUnlockFail testLockUnlock',
    'No writer overlaps another, no read is torn, no caller waits for a lease': CONCURRENCY,
    'A read release removes a dead reader whose key expired, and a writer enters (C8)':
      'testMultiInstanceReadLockZombieCleanup',
    'Renewal lets the read timeout key of a dead reader of another client expire (B12)':
      'testMultiInstanceZombieReadLockPerformance',
  },
  RedissonLockExpirationRenewalTest: {
    'A ${kind} that its thread acquires again after a loss is renewed':
      'testWriteLockAfterTimeout testReadLockAfterTimeout testLockAfterTimeout',
    'A lock that is acquired after two levels were released is renewed': 'testLockReentrantRenew',
  },
  RedissonFairLockTest: {
    ...OF_ANY_LOCK,
    'Eight callers that never release a fair lock enter it in order, as leases end': 'testLeaseTimeout',
    '5,000 waiters of a process have a place each, only refresh, and enter in order (E11)':
      'testMultipleLocks',
    'Random moves of Java and ours put no place ahead of the waits before it (E7)': `testWaitTimeoutDrift
      testLockAcquiredTimeoutDrift testFirstThreadDeathTimeoutDrift testLockAcquiredTimeoutDrift_Descrete`,
    'A head that aborts when notified passes a free lock to the next client (E4)':
      'testAcquireFailedTimeoutDrift_Descrete',
    'Waiters whose clients were cut off delay those behind by their allowance only (E1)':
      'testLockAcquiredBooleanTimeoutDrift_Descrete testAbandonedTimeoutDrift_Descrete',
    'A wait for a fair lock that times out leaves no place behind (E5)': 'testTryLockNonDelayed',
    '16 clients of a ${kind} lock lose none of 160 updates': CONCURRENCY,
    'Callers of two clients enter a fair lock in order of arrival (E11)':
      'testConcurrency_MultiInstance_Ordering',
    'The places of a fair lock, and its scores, are under the mapped name (E12)': 'testNameMapper',
    'Waiters for a fair lock sit out a pause of the server, without an error event':
      'testAcquireFailedNotCalledOnRedisTimeout',
  },
  RedissonNonReentrantLockTest: {
    'Waiters of a non-reentrant lock in one process get it by local handoff, in order':
      'testContendingThreadBlocksAndAcquiresOnRelease',
    'A non-reentrant lock refuses its holder by every call and object':
      'testSameThreadReacquireThrows testCrossInstanceSameThreadReentryThrows',
  },
  RedissonNonReentrantFairLockTest: {
    'Callers of a non-reentrant fair lock queue; a second copy is no re-entry (N1)':
      'testContendingThreadBlocksAndAcquiresOnRelease',
    'A non-reentrant fair lock refuses its holder, which the fair lock lets re-enter':
      'testSameThreadReacquireThrows testCrossInstanceSameThreadReentryThrows',
  },
  RedissonSpinLockTest: {
    ...OF_ANY_LOCK,
    ...OF_LOCK_AND_SPIN_LOCK,
    'MOVED storm: every call succeeds as the slot goes back and forth, one error at most': 'testInCluster',
    '16 clients of a ${kind} lock lose none of 160 updates': CONCURRENCY,
    'A spin waiter acquires a silently released lock long before the lease ends (N3)': 'testTryLockAsync',
    'Callers that wait for a ${a} all enter, one wake-up after the other (A2)': 'testTimedTryLockAsync',
    'tryLock() of a spin lock ends at its wait with a last try, also with a long pause (N2)':
      'testTryLockAsyncWaitTime',
    'A ${a} takes its wait and its lease in units': 'testTryLockAsyncSucceed',
    "A ${a} held by another client answers by the server's state, also without expiry":
      'testTryLockAsyncFailed',
  },
  RedissonFencedLockTest: {
    'A fenced lock numbers its grants from 1, each greater than all before': 'testTokenIncrease',
  },
  RedissonMultiLockTest: {
    'lock() and unlock(); two callers outside any scope exclude each other':
      'testLockUnlock testMultiThreads',
    'Of ten threads that try a multi lock once at the same time, one acquires all':
      'testWaitAndLeaseTimeouts',
    'A multi lock takes members of any kind and client, and multi locks; tokens go on (J7)': 'test',
  },
  RedissonRedLockTest: {
    'Three contenders get their turns, one at a time': 'testTryLockLeasetime',
    'A lease of a multi lock is converted once, for every number of rounds (M4)':
      'testLockLeasetimeWithMilliSeconds testLockLeasetimeWithSeconds testLockLeasetimeWithMinutes',
    'A RedLock counts its quorum over all members: two of five are none (M9)':
      'testLockFailed testLockSuccess2 testLockSuccess',
    'A held member is waited for, also with a server away and for over 10 s (V147)': 'testConnectionFailed',
    // These two are switched off there, and are about the multi lock.
    'lock() and unlock(); two callers outside any scope exclude each other': 'testMultiThreads',
    'A multi lock takes members of any kind and client, and multi locks; tokens go on (J7)': 'test',
  },
  RedissonSemaphoreTest: {
    'Nothing below 1 is published, and no count that Java cannot read is made (S7)':
      'testAcquireAfterAddPermits',
    'None of a semaphore is taken or released at once, and asks nothing': 'testZero',
    'Waiters of a deleted semaphore enter once it is set; old permits do not count (S4, S9)':
      'testAcquireWithoutSetPermits testReleaseWithoutPermits testReleaseIfExists',
    'A semaphore is set when its key is absent, not 0, and keeps its TTL (S8, S9)': 'testTrySetPermits',
    'Permits of a semaphore are taken, released, counted, drained and added': `testAddPermits testReducePermits
      testDrainPermits testReleaseAcquire`,
    'Requests of different sizes are served in the order in which they came (S5, S6)':
      'testBlockingAcquire testBlockingNAcquire testTryNAcquire',
    'Never more than its permits are inside a semaphore, and all of them are back in the end': `
      testConcurrency_SingleInstance testConcurrencyLoopMax_MultiInstance testConcurrencyLoop_MultiInstance
      testConcurrency_MultiInstance_1_permits`,
  },
  RedissonPermitExpirableSemaphoreTest: {
    'The keys of permits are under the mapped name': 'testGetInClusterNameMapper',
    'A waiter enters when the lease before it ends, and at once when that is shortened (P5)':
      'testUpdateLeaseTime testExpiration',
    'setPermits repairs a semaphore of which either key was lost (P8)':
      'testNotExistent testTrySetPermits testSetPermits testAddPermits',
    'Permits are taken singly and severally, each with an id of 16 bytes in Redis (P2)': `testAvailablePermits
      testAcquiredPermits testGetPermits testAcquire testRelease testAcquireAsyncMany testReleaseAsyncMany`,
    'What is released after its lease ran out is a loss, and its capacity comes back once (P6)': `testExpire
      testReleaseWithoutPermits testReleaseExpired testReleaseManyExpiredDoesNotThrow testTryReleaseManyExpired
      testReleaseManyNotExistOrExpired`,
    'When no permit is free, one try answers undefined, and a wait ends in time':
      'testExpireTryAcquire testTryAcquire testBlockingAcquire',
    'A large request is served in its turn, although smaller ones would fit':
      'testBlockingAcquireMany testTryAcquireMany',
    'Leases run by the clock of the server, whatever that of the process says (P1)': 'testGetLeaseTime',
    'No permit that expires is lost or gained, in any way to acquire and release it (P3)': `
      testConcurrency_SingleInstance testConcurrencyLoop_MultiInstance testConcurrencyMultiPermits
      testConcurrencyMultiPermits2`,
  },
  RedissonCountDownLatchTest: {
    'All waiters of a latch go on at zero, in this process and in another (L2)':
      'testAwaitTimeout testMultiAwait testSingleCountDownAwait_SingleInstance',
    'A latch wait ends at its time, in any unit (L1)': 'testAwaitTimeoutFail',
    'A latch is set once, counted down to zero, and gone then': 'testTrySetCount testCount testCountDown',
    'A deleted latch lets its waiters go, and says 0 to its channel and nothing else (L5)':
      'testDelete testDeleteFailed',
  },
}

/** RedissonLockTest.testLockListener: locks here have no listeners to keyspace notifications; `lockLost` tells of a loss. */

describe("Redisson's own tests", () => {
  const titles = allTitles()

  for (const [suite, counterparts] of Object.entries(JAVA_TESTS))
    it(`Each test of ${suite} has a test of ours that asks the same`, () => {
      const missing = Object.keys(counterparts).filter((title) => !titles.has(title))
      expect(missing, 'no test has this title').to.deep.equal([])
      const names = Object.values(counterparts).flatMap((some) => some.trim().split(/\s+/))
      expect(names).to.have.length(new Set(names).size)
    })
})

/** The titles of all tests, as they stand in the sources. */
function allTitles(): ReadonlySet<string> {
  const files = readdirSync(TESTS, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.ts'),
  )
  const sources = files.map((file) => readFileSync(join(TESTS, file), 'utf8'))
  const titles = sources.flatMap((source) => [...source.matchAll(/\bit\w*\(\s*(['"`])(.*?)\1,/gs)])
  return new Set(titles.map(([, , title]) => title!))
}
