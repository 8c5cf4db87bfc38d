import { Redis } from 'ioredis'
import { type OpenSubject, singleServer } from './subject'

interface Lock {
  release(): Promise<unknown>
}

/** What the two packages of that name have in common, down to the settings. */
interface Redlock {
  acquire(names: string[], duration: number, settings: { retryCount: number }): Promise<Lock>
}

/** How long a lock is valid; as in the README of both, for there is no default. */
const DURATION = 5_000

/** The ten tries that are the default end in an error where many contend; a release keeps them. */
const WAIT_FOR_EVER = { retryCount: -1 }

export function openRedlock(redlockOn: (client: Redis) => Redlock): OpenSubject {
  return async (at) => {
    const client = new Redis(singleServer(at))
    await client.ping()
    const redlock = redlockOn(client)
    return {
      exclusive: true,
      caller(lockName) {
        let lock: Lock
        return {
          async acquire() {
            lock = await redlock.acquire([lockName], DURATION, WAIT_FOR_EVER)
          },
          async release() {
            await lock.release()
          },
        }
      },
    }
  }
}
