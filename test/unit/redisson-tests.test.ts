import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'

const ROOT = join(__dirname, '../..')

/** Redisson's tests at 4.7, those of RedLock at 3.16.8; the base classes of these have helpers and no tests. */
const JAVA_TESTS: Record<string, string> = {
  RedissonLockTest: `
    testSubscriptionsPerConnection testSinglePubSub testLockIsNotRenewedAfterInterruptedTryLock testRedisFailed
    testRemainTimeToLive2 testTryLockWait testLockUninterruptibly testForceUnlock testExpire testRemainTimeToLive
    testInCluster testAutoExpire testGetHoldCount testIsHeldByCurrentThreadOtherThread testIsHeldByCurrentThread
    testIsLockedOtherThread testLockFailoverInCluster testIsLocked testUnlockFail testLockUnlock testReentrancy
    testConcurrencyTryLockUnLock testConcurrency_SingleInstance testConcurrencyLoop_MultiInstance
    testConcurrency_MultiInstance testLockListener`,
  RedissonReadWriteLockTest: `
    testReadLockExpiration testReadLockIsLocked testReadLockExpirationRenewal testName testWriteLockExpiration
    testInCluster testReadLockLeaseTimeoutDiffThreadsWRR testReadLockLeaseTimeoutDiffThreadsRRW
    testReadLockLeaseTimeout testWR testWriteRead testWriteReadReentrancy testWriteLock testMultiRead
    testForceUnlock testReadWriteTTL testExpireRead testExpireWrite testAutoExpire testHoldCount
    testIsHeldByCurrentThreadOtherThread testIsHeldByCurrentThread testIsLockedOtherThread testIsLocked
    testUnlockFail testLockUnlock testReentrancy testConcurrency_SingleInstance
    testConcurrencyLoop_MultiInstance testConcurrency_MultiInstance testMultiInstanceReadLockZombieCleanup
    testMultiInstanceZombieReadLockPerformance`,
  RedissonLockExpirationRenewalTest: `
    testWriteLockAfterTimeout testReadLockAfterTimeout testLockAfterTimeout testLockReentrantRenew`,
  RedissonFairLockTest: `
    testLeaseTimeout testMultipleLocks testWaitTimeoutDrift testLockAcquiredTimeoutDrift
    testAcquireFailedTimeoutDrift_Descrete testLockAcquiredBooleanTimeoutDrift_Descrete
    testLockAcquiredTimeoutDrift_Descrete testAbandonedTimeoutDrift_Descrete
    testFirstThreadDeathTimeoutDrift testTryLockNonDelayed testTryLockWait testForceUnlock testExpire
    testAutoExpire testGetHoldCount testIsHeldByCurrentThreadOtherThread testIsHeldByCurrentThread
    testIsLockedOtherThread testIsLocked testUnlockFail testLockUnlock testReentrancy
    testConcurrency_SingleInstance testConcurrencyLoop_MultiInstance testConcurrency_MultiInstance
    testConcurrency_MultiInstance_Ordering testNameMapper testAcquireFailedNotCalledOnRedisTimeout`,
  RedissonNonReentrantLockTest: `
    testContendingThreadBlocksAndAcquiresOnRelease testSameThreadReacquireThrows
    testCrossInstanceSameThreadReentryThrows`,
  RedissonNonReentrantFairLockTest: `
    testContendingThreadBlocksAndAcquiresOnRelease testSameThreadReacquireThrows
    testCrossInstanceSameThreadReentryThrows`,
  RedissonSpinLockTest: `
    testRedisFailed testTryLockWait testLockUninterruptibly testForceUnlock testExpire testInCluster
    testAutoExpire testGetHoldCount testIsHeldByCurrentThreadOtherThread testIsHeldByCurrentThread
    testIsLockedOtherThread testIsLocked testUnlockFail testLockUnlock testReentrancy
    testConcurrency_SingleInstance testConcurrencyLoop_MultiInstance testConcurrency_MultiInstance
    testTryLockAsync testTimedTryLockAsync testTryLockAsyncWaitTime testTryLockAsyncFailed
    testTryLockAsyncSucceed`,
  RedissonFencedLockTest: `
    testTokenIncrease`,
  RedissonMultiLockTest: `
    testLockUnlock testWaitAndLeaseTimeouts testMultiThreads test`,
  RedissonRedLockTest: `
    testLockLeasetimeWithMilliSeconds testLockLeasetimeWithSeconds testLockLeasetimeWithMinutes
    testTryLockLeasetime testLockFailed testLockSuccess2 testLockSuccess testConnectionFailed
    testMultiThreads test`,
  RedissonSemaphoreTest: `
    testAcquireAfterAddPermits testZero testAcquireWithoutSetPermits testTrySetPermits testAddPermits
    testReducePermits testBlockingAcquire testBlockingNAcquire testTryNAcquire testReleaseWithoutPermits
    testDrainPermits testReleaseAcquire testReleaseIfExists testConcurrency_SingleInstance
    testConcurrencyLoopMax_MultiInstance testConcurrencyLoop_MultiInstance
    testConcurrency_MultiInstance_1_permits`,
  RedissonPermitExpirableSemaphoreTest: `
    testGetInClusterNameMapper testUpdateLeaseTime testNotExistent testAvailablePermits
    testAcquiredPermits testGetPermits testExpiration testExpire testExpireTryAcquire testTrySetPermits
    testSetPermits testAddPermits testBlockingAcquire testBlockingAcquireMany testTryAcquire
    testTryAcquireMany testReleaseWithoutPermits testReleaseExpired testConcurrency_SingleInstance
    testConcurrencyLoop_MultiInstance testAcquire testRelease testAcquireAsyncMany testReleaseAsyncMany
    testReleaseManyExpiredDoesNotThrow testTryReleaseManyExpired testReleaseManyNotExistOrExpired
    testGetLeaseTime testConcurrencyMultiPermits testConcurrencyMultiPermits2`,
  RedissonCountDownLatchTest: `
    testAwaitTimeout testAwaitTimeoutFail testMultiAwait testCountDown testDelete testDeleteFailed
    testTrySetCount testCount`,
}

/** What has no counterpart here. */
const NONE: Record<string, string> = {
  'RedissonLockTest.testLockListener':
    'locks here have no listeners to keyspace notifications; hold.signal and the event lockLost tell of a lost lock',
}

describe("Redisson's own tests", () => {
  const titles = allTitles()

  for (const [suite, tests] of Object.entries(JAVA_TESTS))
    it(`Each test of ${suite} has one of ours that is called after it, or a reason why not`, () => {
      const java = tests.trim().split(/\s+/)
      const called = titles.flatMap((title) => {
        const [, of, name] = /^(\w+)\.(\w+): /.exec(title) ?? []
        return of === suite ? [name!] : []
      })
      expect(java.filter((name) => !called.includes(name) && !(`${suite}.${name}` in NONE))).to.deep.equal([])
      expect(called.filter((name) => !java.includes(name))).to.deep.equal([])
    })
})

/** The titles of all tests, as they stand in the sources. */
function allTitles(): string[] {
  const alike = [...source('test/parity/rlock-tests.ts').matchAll(/^export function (\w+)\(suite.*?^}/gms)]
  return ['test', 'compat'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.test.ts'))
      .map((file) => source(`${folder}/${file}`))
      .flatMap((text) => [
        ...titlesIn(text),
        ...alike.flatMap(([body, tests]) =>
          [...text.matchAll(new RegExp(`\\b${tests}\\('(\\w+)'`, 'g'))].flatMap(([, suite]) =>
            titlesIn(body).map((title) => title.replace(/^.*?}/, suite!)),
          ),
        ),
      ]),
  )
}

function titlesIn(text: string): string[] {
  return [...text.matchAll(/\bit\(\s*(['"`])(.*?)\1,/gs)].map(([, , title]) => title!)
}

function source(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8')
}
