import { type Lock, Redlock } from '@sesamecare-oss/redlock'
import { Redis } from 'ioredis'
import { type OpenSubject, singleServer } from './subject'

/** How long a lock is valid; as in its README, for there is no default. */
const DURATION = 5_000

/** The ten tries that are the default end in an error where many contend; a release keeps them. */
const WAIT_FOR_EVER = { retryCount: -1 }

export const open: OpenSubject = async (at) => {
  const client = new Redis(singleServer(at))
  await client.ping()
  const redlock = new Redlock([client])
  return {
    exclusive: true,
    flow(lockName) {
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
