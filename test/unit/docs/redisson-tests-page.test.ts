import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'

const ROOT = join(__dirname, '../../..')
const PAGE = readFileSync(join(ROOT, 'compat', 'redisson-tests.md'), 'utf8')

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

describe('compat/redisson-tests.md', () => {
  for (const [suite, tests] of Object.entries(JAVA_TESTS)) {
    it(`compat/redisson-tests.md names a test of ours for each of ${suite}, or a reason`, () => {
      const titles = allTitles()
      const named = rowsOfTests(suite)
      expect(named.map(({ java }) => java).sort()).to.deep.equal(tests.trim().split(/\s+/).sort())
      for (const { java, ours } of named) {
        if (ours.startsWith('none: ')) continue
        expect(ours).to.match(new RegExp(`^${suite}\\.${java}: `))
        expect(titles).to.include(ours)
      }
    })

    it(`compat/redisson-tests.md leaves out no test that is called after one of ${suite}`, () => {
      const called = allTitles().filter((title) => title.startsWith(`${suite}.`))
      const named = rowsOfTests(suite).map(({ ours }) => ours)
      expect(called.filter((title) => !named.includes(title))).to.deep.equal([])
    })
  }
})

/** The rows of the table under the heading of that name, however their columns are padded. */
function rowsOfTests(suite: string): { java: string; ours: string }[] {
  const section = PAGE.split(/^## /m).find((each) => each.startsWith(`${suite}\n`)) ?? ''
  return [...section.matchAll(/^\| `(test\w*)` *\| (.+?) *\|$/gm)].map(([, java, ours]) => ({
    java: java!,
    ours: ours!,
  }))
}

/** The titles of all tests, as they stand in the sources. */
function allTitles(): string[] {
  return ['test', 'compat'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.test.ts'))
      .flatMap((file) => {
        const source = readFileSync(join(ROOT, folder, file), 'utf8')
        return [...source.matchAll(/\bit\(\s*(['"`])(.*?)\1,/gs)].map(([, , title]) => title!)
      }),
  )
}
