import { type LockHold, Redisson, type RedissonOptions, type RLock } from 'rlock'
import type { Caller, OpenSubject } from './subject'

/** `acquire()` and `hold.unlock()`: what the README recommends where callers share a lock. */
export const open: OpenSubject = async (at) => {
  const redis = 'redis' in at ? at.redis : { nodes: [...at.cluster] }
  const redisson = await create({ redis })
  return {
    exclusive: true,
    caller: (lockName) => callerOf(redisson.getLock(lockName)),
    readWriteCaller(lockName) {
      const lock = redisson.getReadWriteLock(lockName)
      return { read: callerOf(lock.readLock()), write: callerOf(lock.writeLock()) }
    },
  }
}

/** The switch of the fast path is none of the public options. */
async function create(options: RedissonOptions): Promise<Redisson> {
  if (process.env.RLOCK_BENCH_FAST_PATH !== 'off') return await Redisson.create(options)
  const { createWith } = Redisson as unknown as {
    createWith(options: RedissonOptions, internals: { transport(each: object): object }): Promise<Redisson>
  }
  const transport = (each: object) => Object.assign(each, { usesFastPath: false })
  return await createWith.call(Redisson, options, { transport })
}

function callerOf(lock: RLock): Caller {
  let hold: LockHold
  return {
    async acquire() {
      hold = await lock.acquire()
    },
    release: () => hold.unlock(),
  }
}
