import { Redis } from 'ioredis'
import { Mutex } from 'redis-semaphore'
import type { OpenSubject } from './subject'

/** `acquire()` and `release()` of a Mutex for each flow. */
export const open: OpenSubject = async (redis) => {
  const client = new Redis(redis)
  await client.ping()
  return {
    exclusive: true,
    flow(lockName) {
      const mutex = new Mutex(client, lockName)
      return { acquire: () => mutex.acquire(), release: () => mutex.release() }
    },
    close: () => client.quit(),
  }
}
