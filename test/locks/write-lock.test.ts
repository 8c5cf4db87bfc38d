import { anyHandleSuite } from '../contract/any-handle'
import { lockHandles } from '../contract/handles'
import { idempotencySuite } from '../contract/idempotency'
import { leasesSuite } from '../contract/leases'
import { ownershipSuite } from '../contract/ownership'
import { writeLock } from '../contract/primitives'
import { renewalSuite } from '../contract/renewal'
import { waitTimeSuite } from '../contract/wait-time'
import { wakeUpSuite } from '../contract/wake-up'

anyHandleSuite(lockHandles(writeLock))
wakeUpSuite(writeLock)
waitTimeSuite(writeLock)
leasesSuite(writeLock)
renewalSuite(writeLock)
ownershipSuite(writeLock)
idempotencySuite(writeLock)
