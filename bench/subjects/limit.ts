import trivial from './lua/trivial.lua'
import { connect, loadScript } from './own-ioredis'
import type { OpenSubject } from './subject'

/**
 * Two script calls that do nothing, one after the other, by the client's own means: what a lock is measured against. One
 * that makes its commands itself, or sends a plain SET in place of a script, can be faster.
 */
export const open: OpenSubject = async (at) => {
  const client = connect(at)
  const hash = await loadScript(client, trivial)
  return {
    exclusive: false,
    caller(lockName) {
      const call = async () => {
        await client.evalsha(hash, 1, lockName)
      }
      return { acquire: call, release: call }
    },
  }
}
