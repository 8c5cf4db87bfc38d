import { randomUUID } from 'node:crypto'
import hashAcquire from './lua/hash-acquire.lua'
import hashRelease from './lua/hash-release.lua'
import { connect, loadScript } from './own-ioredis'
import { LEASE, poll } from './polling'
import type { OpenSubject } from './subject'

/** A hash of owners and counts, as Redisson keeps it, by two scripts, without Redisson's messages. */
export const open: OpenSubject = async (at) => {
  const client = connect(at)
  const acquire = await loadScript(client, hashAcquire)
  const release = await loadScript(client, hashRelease)
  const clientId = randomUUID()
  let callers = 0
  return {
    exclusive: true,
    caller(lockName) {
      const owner = `${clientId}:${++callers}`
      return {
        acquire: () => poll(async () => (await client.evalsha(acquire, 1, lockName, owner, LEASE)) === null),
        async release() {
          if ((await client.evalsha(release, 1, lockName, owner, LEASE)) !== 1)
            throw new Error('the lock was lost')
        },
      }
    },
  }
}
