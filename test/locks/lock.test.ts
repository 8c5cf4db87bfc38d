import { anyHandleSuite } from '../contract/any-handle'
import { lockHandles } from '../contract/handles'
import { idempotencySuite } from '../contract/idempotency'
import { leasesSuite } from '../contract/leases'
import { ownershipSuite } from '../contract/ownership'
import { plainLock } from '../contract/primitives'
import { renewalSuite } from '../contract/renewal'
import { waitTimeSuite } from '../contract/wait-time'
import { wakeUpSuite } from '../contract/wake-up'

anyHandleSuite(lockHandles(plainLock))
wakeUpSuite(plainLock)
waitTimeSuite(plainLock)
leasesSuite(plainLock)
renewalSuite(plainLock)
ownershipSuite(plainLock)
idempotencySuite(plainLock)
