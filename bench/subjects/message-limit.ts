import { randomUUID } from 'node:crypto'
import tell from './lua/tell.lua'
import trivial from './lua/trivial.lua'
import { connect, loadScript } from './own-ioredis'
import type { OpenSubject } from './subject'

const CHANNEL = 'bench:turns'

/**
 * Two processes that tell each other whose turn it is: a script call that publishes, and one that does nothing when the
 * message has come. It locks nothing; no lock that tells its waiters can hand off faster by the same client.
 */
export const open: OpenSubject = async (at) => {
  const [client, subscriber] = [connect(at), connect(at)]
  const [telling, nothing] = [await loadScript(client, tell), await loadScript(client, trivial)]
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
      async release() {
        await client.evalsha(telling, 1, CHANNEL, own)
      },
    }),
  }
}
