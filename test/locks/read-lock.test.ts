import { idempotencySuite } from '../contract/idempotency'
import { leasesSuite } from '../contract/leases'
import { ownershipSuite } from '../contract/ownership'
import { readLock } from '../contract/primitives'
import { renewalSuite } from '../contract/renewal'
import { waitTimeSuite } from '../contract/wait-time'
import { wakeUpSuite } from '../contract/wake-up'

wakeUpSuite(readLock)
waitTimeSuite(readLock)
leasesSuite(readLock)
renewalSuite(readLock)
ownershipSuite(readLock)
idempotencySuite(readLock)
