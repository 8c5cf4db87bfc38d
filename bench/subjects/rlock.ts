import { type LockHold, Redisson, type RLock } from 'rlock'
import type { Flow, OpenSubject } from './subject'

/** `acquire()` and `hold.unlock()`: what the README recommends where flows share a lock. */
export const open: OpenSubject = async (at) => {
  const redis = 'redis' in at ? at.redis : { nodes: [...at.cluster] }
  const redisson = await Redisson.create({ redis })
  return {
    exclusive: true,
    flow: (lockName) => flowOf(redisson.getLock(lockName)),
    readWriteFlow(lockName) {
      const lock = redisson.getReadWriteLock(lockName)
      return { read: flowOf(lock.readLock()), write: flowOf(lock.writeLock()) }
    },
  }
}

function flowOf(lock: RLock): Flow {
  let hold: LockHold
  return {
    async acquire() {
      hold = await lock.acquire()
    },
    release: () => hold.unlock(),
  }
}
