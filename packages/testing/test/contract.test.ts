import { idempotencySuite } from '../../../test/contract/idempotency'
import { leasesSuite } from '../../../test/contract/leases'
import { ownershipSuite } from '../../../test/contract/ownership'
import type { Primitive } from '../../../test/contract/primitive'
import {
  fairLock,
  fencedLock,
  nonReentrantLock,
  plainLock,
  readLock,
  spinLock,
  tokenLock,
  writeLock,
} from '../../../test/contract/primitives'
import { renewalSuite } from '../../../test/contract/renewal'
import { waitTimeSuite } from '../../../test/contract/wait-time'
import { wakeUpSuite } from '../../../test/contract/wake-up'
import { onInMemoryServers } from '../../../test/kit/stand-in'

type Suite = (primitive: Primitive) => void

const ALL = [wakeUpSuite, waitTimeSuite, leasesSuite, renewalSuite, ownershipSuite, idempotencySuite]

/** As in test/locks: what holds for a primitive beside a real server holds for it in memory. */
const SUITES: readonly (readonly [Primitive, readonly Suite[]])[] = [
  [plainLock, ALL],
  [readLock, ALL],
  [writeLock, ALL],
  [fairLock, [wakeUpSuite, waitTimeSuite, leasesSuite, ownershipSuite, idempotencySuite]],
  [fencedLock, [wakeUpSuite, ownershipSuite, idempotencySuite]],
  [spinLock, [wakeUpSuite, waitTimeSuite]],
  [tokenLock, [renewalSuite]],
  [nonReentrantLock, [ownershipSuite]],
]

/** The others are waits for the most part: `suites.ts` runs everything. */
const IN_SHORT = [leasesSuite, ownershipSuite]
const IN_FULL: readonly Primitive[] = [writeLock, fairLock]

const runs = (primitive: Primitive, suite: Suite) =>
  IN_SHORT.includes(suite) ||
  (IN_FULL.includes(primitive) && suite !== renewalSuite) ||
  (primitive === fencedLock && suite === idempotencySuite)

describe('On the in-memory server', () => {
  onInMemoryServers()

  for (const [primitive, suites] of SUITES)
    for (const suite of suites) if (runs(primitive, suite)) suite(primitive)
})
