import { type LockHold, Redisson } from 'rlock'
import type { OpenSubject } from './subject'

/** `acquire()` and `hold.unlock()`: what the README recommends where flows share a lock. */
export const open: OpenSubject = async (redis) => {
  const redisson = await Redisson.create({ redis })
  return {
    exclusive: true,
    flow(lockName) {
      const lock = redisson.getLock(lockName)
      let hold: LockHold
      return {
        async acquire() {
          hold = await lock.acquire()
        },
        release: () => hold.unlock(),
      }
    },
    close: () => redisson.shutdown(),
  }
}
