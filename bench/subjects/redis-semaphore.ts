import { Redis } from 'ioredis'
import { Mutex } from 'redis-semaphore'
import { type OpenSubject, singleServer } from './subject'

/** `acquire()` and `release()` of a Mutex for each caller. */
export const open: OpenSubject = async (at) => {
  const client = new Redis(singleServer(at))
  await client.ping()
  return {
    exclusive: true,
    caller(lockName) {
      const mutex = new Mutex(client, lockName)
      return { acquire: () => mutex.acquire(), release: () => mutex.release() }
    },
  }
}
