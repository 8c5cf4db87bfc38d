import { randomUUID } from 'node:crypto'
import deleteIfEqual from './lua/delete-if-equal.lua'
import { connect, loadScript } from './own-ioredis'
import { LEASE, poll } from './polling'
import type { OpenSubject } from './subject'

/** The recipe of the Redis documentation: SET NX PX to take it, a script that compares and deletes to release. */
export const open: OpenSubject = async (at) => {
  const client = connect(at)
  const hash = await loadScript(client, deleteIfEqual)
  return {
    exclusive: true,
    caller(lockName) {
      let token: string
      return {
        acquire() {
          token = randomUUID()
          return poll(async () => (await client.set(lockName, token, 'PX', LEASE, 'NX')) === 'OK')
        },
        async release() {
          if ((await client.evalsha(hash, 1, lockName, token)) !== 1) throw new Error('the lock was lost')
        },
      }
    },
  }
}
