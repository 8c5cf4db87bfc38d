import { Redis } from 'ioredis'
import { rejection, uniqueName } from '../../kit/clients'
import { type Standalone, startStandalone, waitUntil, withClient } from '../../kit/servers/index'
import type { Trouble } from './trouble'

/** Commands are looked at every thousand keys; this makes it several times a second, for many seconds. */
const KEYS = 60_000

/** Starts loading anew, and goes on until a key takes no time. */
export async function loading(): Promise<Trouble> {
  const server = await startStandalone({
    appendonly: true,
    config: ['key-load-delay 200'],
  })
  const trouble = on(server)
  await trouble.admin.eval(`for i = 1, ${KEYS} do redis.call('set', 'key' .. i, 'x') end`, 0)
  let restarting: Promise<void>
  return {
    ...trouble,
    async begin() {
      restarting = server.restart()
      await waitUntil('the server is loading', async () => {
        const refusal = await rejection(withClient(server, (client) => client.get('key1')))
        return refusal.message.startsWith('LOADING')
      })
    },
    async end() {
      await withClient(server, (client) => client.config('SET', 'key-load-delay', 0))
      await restarting
    },
  }
}

/** Is a replica for a while, as after a failover that the client has not heard of. */
export async function readonly(): Promise<Trouble> {
  const trouble = on(await startStandalone())
  return {
    ...trouble,
    begin: async () => void (await trouble.admin.replicaof('127.0.0.1', 1)),
    end: async () => void (await trouble.admin.replicaof('NO', 'ONE')),
  }
}

/** Runs another client's script that does not end. */
export async function busy(): Promise<Trouble> {
  const server = await startStandalone({ config: ['lua-time-limit 50'] })
  const trouble = on(server)
  let endless: Promise<unknown>
  return {
    ...trouble,
    async begin() {
      endless = rejection(withClient(server, (client) => client.eval('while true do end', 0)))
      await waitUntil('it is busy', async () =>
        (await rejection(trouble.admin.get('key'))).message.startsWith('BUSY'),
      )
    },
    async end() {
      await trouble.admin.script('KILL')
      await endless
    },
  }
}

function on(server: Standalone) {
  const admin = new Redis(server.url, { maxLoadingRetryTime: 100 })
  admin.on('error', () => {})
  return {
    source: server.url,
    admin,
    newName: () => uniqueName(),
    async stop() {
      admin.disconnect()
      await server.stop()
    },
  }
}
