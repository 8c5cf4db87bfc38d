import { Redisson } from 'node-redisson'
import { type OpenSubject, singleServer } from './subject'

/** `lock()` and `unlock()`, a lock object for each flow: the object is what owns the lock there. */
export const open: OpenSubject = async (at) => {
  const { hostname, port } = new URL(singleServer(at))
  const redisson = new Redisson({ redis: { options: { host: hostname, port: Number(port) } } })
  await redisson.redis.ping()
  return {
    exclusive: true,
    flow(lockName) {
      const lock = redisson.getLock(lockName)
      return { acquire: () => lock.lock(), release: () => lock.unlock() }
    },
  }
}
