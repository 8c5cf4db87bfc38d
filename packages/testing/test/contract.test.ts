import { idempotencySuite } from '../../../test/contract/idempotency'
import { leasesSuite } from '../../../test/contract/leases'
import { ownershipSuite } from '../../../test/contract/ownership'
import { fencedLock, writeLock } from '../../../test/contract/primitives'
import { waitTimeSuite } from '../../../test/contract/wait-time'
import { wakeUpSuite } from '../../../test/contract/wake-up'
import { onInMemoryServers } from '../../../test/kit/stand-in'

/** Of two kinds, which use most of what the server has. CI runs every suite of every kind, by `suites.ts`. */
describe('On the in-memory server', () => {
  onInMemoryServers()

  for (const suite of [wakeUpSuite, waitTimeSuite, leasesSuite, ownershipSuite, idempotencySuite])
    suite(writeLock)
  idempotencySuite(fencedLock)
})
