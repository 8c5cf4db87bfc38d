import { Redis } from 'ioredis'
import { Mutex, Semaphore } from 'redis-semaphore'
import { type OpenSubject, singleServer } from './subject'

/** `acquire()` and `release()` of a Mutex for each caller, or of a Semaphore. */
export const open: OpenSubject = async (work) => {
  const client = new Redis(singleServer(work))
  await client.ping()
  return {
    exclusive: true,
    caller(name) {
      const mutex =
        work.object === 'semaphore' ? new Semaphore(client, name, work.permits ?? 1) : new Mutex(client, name)
      return { acquire: () => mutex.acquire(), release: () => mutex.release() }
    },
  }
}
