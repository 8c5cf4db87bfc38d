import { idempotencySuite } from '../contract/idempotency'
import { leasesSuite } from '../contract/leases'
import { ownershipSuite } from '../contract/ownership'
import { plainLock } from '../contract/primitives'
import { renewalSuite } from '../contract/renewal'
import { waitTimeSuite } from '../contract/wait-time'
import { wakeUpSuite } from '../contract/wake-up'

wakeUpSuite(plainLock)
waitTimeSuite(plainLock)
leasesSuite(plainLock)
renewalSuite(plainLock)
ownershipSuite(plainLock)
idempotencySuite(plainLock)
