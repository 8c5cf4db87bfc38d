import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'

const ROOT = join(__dirname, '..', '..')
const PAGE = readFileSync(join(ROOT, 'docs', 'parity.md'), 'utf8')

/** Redisson's RedissonLockTest at 4.7; its base classes have helpers and no tests. */
const JAVA_TESTS = `
  testSubscriptionsPerConnection testSinglePubSub testLockIsNotRenewedAfterInterruptedTryLock testRedisFailed
  testRemainTimeToLive2 testTryLockWait testLockUninterruptibly testForceUnlock testExpire testRemainTimeToLive
  testInCluster testAutoExpire testGetHoldCount testIsHeldByCurrentThreadOtherThread testIsHeldByCurrentThread
  testIsLockedOtherThread testLockFailoverInCluster testIsLocked testUnlockFail testLockUnlock testReentrancy
  testConcurrencyTryLockUnLock testConcurrency_SingleInstance testConcurrencyLoop_MultiInstance
  testConcurrency_MultiInstance testLockListener`
  .trim()
  .split(/\s+/)

describe('docs/parity.md', () => {
  it('names tests that there are', () => {
    const titles = allTitles()
    const named = rowsOfTests()
    expect(named.map(({ java }) => java).sort()).to.deep.equal([...JAVA_TESTS].sort())
    for (const { java, ours } of named) {
      if (ours.startsWith('none: ')) continue
      expect(ours).to.match(new RegExp(`^RedissonLockTest\\.${java}: `))
      expect(titles).to.include(ours)
    }
  })

  it('leaves out no test that is called after one of Redisson', () => {
    const called = allTitles().filter((title) => title.startsWith('RedissonLockTest.'))
    const named = rowsOfTests().map(({ ours }) => ours)
    expect(called.filter((title) => !named.includes(title))).to.deep.equal([])
  })
})

/** The rows of the table of tests, however their columns are padded. */
function rowsOfTests(): { java: string; ours: string }[] {
  return [...PAGE.matchAll(/^\| `(test\w+)` *\| (.+?) *\|$/gm)].map(([, java, ours]) => ({
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
