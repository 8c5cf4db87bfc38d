import { Redisson } from 'node-redisson'
import { type OpenSubject, singleServer } from './subject'

/** `lock()` and `unlock()`, a lock object for each caller: the object is what owns the lock there. */
export const open: OpenSubject = async (at) => {
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
