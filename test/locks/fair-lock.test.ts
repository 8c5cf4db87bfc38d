import { anyHandleSuite } from '../contract/any-handle'
import { lockHandles } from '../contract/handles'
import { idempotencySuite } from '../contract/idempotency'
import { leasesSuite } from '../contract/leases'
import { ownershipSuite } from '../contract/ownership'
import { fairLock } from '../contract/primitives'
import { waitTimeSuite } from '../contract/wait-time'
import { wakeUpSuite } from '../contract/wake-up'

// It is renewed by the script of the plain lock, which has that suite.
anyHandleSuite(lockHandles(fairLock))
wakeUpSuite(fairLock)
waitTimeSuite(fairLock)
leasesSuite(fairLock)
ownershipSuite(fairLock)
idempotencySuite(fairLock)
