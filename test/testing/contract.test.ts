import { idempotencySuite } from '../contract/idempotency'
import { leasesSuite } from '../contract/leases'
import { ownershipSuite } from '../contract/ownership'
import { plainLock, readLock, writeLock } from '../contract/primitives'
import { renewalSuite } from '../contract/renewal'
import { waitTimeSuite } from '../contract/wait-time'
import { wakeUpSuite } from '../contract/wake-up'
import { onInMemoryServers } from '../kit/stand-in'

/** The in-memory server has no users. */
const NEEDS_USERS = /tries again after a renewal that the server refused/

// With RLOCK_LONG=1 everything: some three minutes, of which most are waits.
const isLong = process.env.RLOCK_LONG === '1'

describe('On the in-memory server', () => {
  onInMemoryServers()
  beforeEach(function () {
    if (NEEDS_USERS.test(this.currentTest!.title)) this.skip()
  })

  for (const primitive of isLong ? [plainLock, readLock, writeLock] : [writeLock]) {
    wakeUpSuite(primitive)
    leasesSuite(primitive)
    ownershipSuite(primitive)
    if (!isLong) continue
    waitTimeSuite(primitive)
    renewalSuite(primitive)
    idempotencySuite(primitive)
  }
})
