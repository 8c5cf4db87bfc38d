import { randomUUID } from 'node:crypto'
import { createRequire } from 'node:module'
import { setTimeout as sleep } from 'node:timers/promises'
import type * as Ioredis from 'ioredis'
import type { Address } from '../worker/protocol'
import type { OpenSubject } from './subject'

/** The very ioredis that rlock runs on, whichever the peers have. */
const { Redis, Cluster } = createRequire(require.resolve('rlock'))('ioredis') as typeof Ioredis

function connect(at: Address): Ioredis.Redis | Ioredis.Cluster {
  return 'redis' in at ? new Redis(at.redis) : new Cluster([...at.cluster])
}

/** Loads a script wherever it may be called, and answers what it is called by. */
async function loadScript(client: Ioredis.Redis | Ioredis.Cluster, source: string): Promise<string> {
  if (!client.isCluster) return (await client.script('LOAD', source)) as string
  await client.ping()
  const nodes = (client as Ioredis.Cluster).nodes('master')
  const hashes = await Promise.all(nodes.map((node) => node.script('LOAD', source)))
  return hashes[0] as string
}

/**
 * Two script calls that do nothing, one after the other, by the client's own means: what a lock is measured against. One
 * that makes its commands itself, or sends a plain SET in place of a script, can be faster.
 */
export const limit: OpenSubject = async (at) => {
  const client = connect(at)
  const hash = await loadScript(client, 'return 1')
  return {
    exclusive: false,
    caller(lockName) {
      const call = async () => void (await client.evalsha(hash, 1, lockName))
      return { acquire: call, release: call }
    },
  }
}

const CHANNEL = 'bench:turns'

/**
 * Two processes that tell each other whose turn it is: a script call that publishes, and one that does nothing when the
 * message has come. It locks nothing; no lock that tells its waiters can hand off faster by the same client.
 */
export const messageLimit: OpenSubject = async (at) => {
  const [client, subscriber] = [connect(at), connect(at)]
  const telling = await loadScript(client, "return redis.call('publish', KEYS[1], ARGV[1])")
  const nothing = await loadScript(client, 'return 1')
  const own = randomUUID()
  let turns = 0
  let mayGoOn = () => {}
  subscriber.on('message', (_, from: string) => {
    if (from === own) return
    turns++
    mayGoOn()
  })
  await subscriber.subscribe(CHANNEL)
  let begun = false
  const awaitTurn = async (name: string) => {
    if (!begun) {
      begun = true
      // The first of the two need not be notified.
      if ((await client.incr(name)) === 1) return
    }
    if (turns === 0)
      await new Promise<void>((resolve) => {
        mayGoOn = resolve
      })
    turns--
  }
  return {
    exclusive: false,
    caller: (name) => ({
      async acquire() {
        await awaitTurn(name)
        await client.evalsha(nothing, 1, name)
      },
      release: async () => void (await client.evalsha(telling, 1, CHANNEL, own)),
    }),
  }
}

/** Of a lock that is never renewed. */
const LEASE = 30_000
/** Twenty looks a second, as common recipes have it. */
const POLL_DELAY = 50
const DELETE_IF_EQUAL =
  "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0"

/** The recipe of the Redis documentation: SET NX PX to take it, a script that compares and deletes to release. */
export const setNxPolling: OpenSubject = async (at) => {
  const client = connect(at)
  const hash = await loadScript(client, DELETE_IF_EQUAL)
  return {
    exclusive: true,
    caller(lockName) {
      let token: string
      return {
        async acquire() {
          token = randomUUID()
          while ((await client.set(lockName, token, 'PX', LEASE, 'NX')) !== 'OK') await sleep(POLL_DELAY)
        },
        async release() {
          if ((await client.evalsha(hash, 1, lockName, token)) !== 1) throw new Error('the lock was lost')
        },
      }
    },
  }
}
