import {
  fairLock,
  fencedLock,
  nonReentrantLock,
  plainLock,
  readLock,
  spinLock,
  tokenLock,
  writeLock,
} from '../contract/primitives'
import { waitableLock } from '../contract/waitables'
import { waitingSuite } from '../contract/waiting'

const LOCKS = [plainLock, nonReentrantLock, spinLock, fencedLock, tokenLock, fairLock, readLock, writeLock]

// Beside test/waiting/anything-that-waits.test.ts, so that the two run at the same time.
for (const lock of LOCKS) waitingSuite(waitableLock(lock))
