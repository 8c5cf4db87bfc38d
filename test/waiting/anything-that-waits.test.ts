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
import {
  countDownLatch,
  expirableSemaphores,
  multiLock,
  rateLimiter,
  semaphore,
  waitableLock,
} from '../contract/waitables'
import { waitingSuite } from '../contract/waiting'

for (const lock of [
  plainLock,
  nonReentrantLock,
  spinLock,
  fencedLock,
  tokenLock,
  fairLock,
  readLock,
  writeLock,
])
  waitingSuite(waitableLock(lock))

for (const waitable of [multiLock, semaphore, ...expirableSemaphores, countDownLatch, rateLimiter])
  waitingSuite(waitable)
