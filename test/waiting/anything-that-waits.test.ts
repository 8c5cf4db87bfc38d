import { countDownLatch, expirableSemaphores, multiLock, rateLimiter, semaphore } from '../contract/waitables'
import { waitingSuite } from '../contract/waiting'

for (const waitable of [multiLock, semaphore, ...expirableSemaphores, countDownLatch, rateLimiter])
  waitingSuite(waitable)
