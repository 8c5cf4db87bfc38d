// Each package is loaded by the process that measures it, and by no other.

import { Redis } from 'ioredis'
import { type OpenSubject, singleServer } from './subject'

/** `lock()` and `unlock()`, a lock object for each caller: the object is what owns the lock there. */
export const nodeRedisson: OpenSubject = async (at) => {
  const { Redisson } = await import('node-redisson')
  const { hostname, port } = new URL(singleServer(at))
  const redisson = new Redisson({ redis: { options: { host: hostname, port: Number(port) } } })
  await redisson.redis.ping()
  return {
    exclusive: true,
    caller(lockName) {
      const lock = redisson.getLock(lockName)
      return { acquire: () => lock.lock(), release: () => lock.unlock() }
    },
  }
}

/** `acquire()` and `release()` of a Mutex for each caller, or of a Semaphore. */
export const redisSemaphore: OpenSubject = async (work) => {
  const { Mutex, Semaphore } = await import('redis-semaphore')
  const client = new Redis(singleServer(work))
  await client.ping()
  return {
    exclusive: true,
    caller(name) {
      const isSemaphore = work.object === 'semaphore'
      const mutex = isSemaphore ? new Semaphore(client, name, work.permits ?? 1) : new Mutex(client, name)
      return { acquire: () => mutex.acquire(), release: () => mutex.release() }
    },
  }
}

/** What the two packages of that name have in common, down to the settings. */
interface AnyRedlock {
  acquire(
    names: string[],
    duration: number,
    settings: { retryCount: number },
  ): Promise<{ release(): Promise<unknown> }>
}

/** How long a lock is valid; as in the README of both, for there is no default. */
const DURATION = 5_000
/** The ten tries that are the default end in an error where many contend; a release keeps them. */
const WAIT_FOR_EVER = { retryCount: -1 }

function redlockOf(load: () => Promise<new (clients: Redis[]) => AnyRedlock>): OpenSubject {
  return async (at) => {
    const client = new Redis(singleServer(at))
    await client.ping()
    const redlock = new (await load())([client])
    return {
      exclusive: true,
      caller(lockName) {
        let lock: { release(): Promise<unknown> }
        return {
          async acquire() {
            lock = await redlock.acquire([lockName], DURATION, WAIT_FOR_EVER)
          },
          release: async () => void (await lock.release()),
        }
      },
    }
  }
}

export const redlock = redlockOf(async () => (await import('redlock')).default)
export const sesamecareRedlock = redlockOf(async () => (await import('@sesamecare-oss/redlock')).Redlock)
