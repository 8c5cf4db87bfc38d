import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import { expect } from 'chai'
import type { Redis } from 'ioredis'
import { lockChannel } from '../../src/locks/hash-lock-kind'
import type { Redisson } from '../../src/redisson'
import { timed, uniqueName } from './clients'
import { closedLater } from './closing'
import { type Address, serverHas, waitUntil, withClient } from './servers/index'

/** Far more than a wake-up takes and far less than the lease of 30 s that would otherwise end the wait. */
export const SOON = 10_000

export interface Look {
  /** Looks where the lock must be. */
  readonly at: Pick<Redis, 'hgetall'>
  /** How many listen to the channel, by the word of the servers. */
  subscribers(channel: string): Promise<number>
}

/**
 * One client takes a lock, which must then stand under its key in the right place; another waits, which
 * the server must know as a subscription; the release wakes it.
 */
export async function provesLocking(holder: Redisson, other: Redisson, look: Look): Promise<void> {
  const name = uniqueName()
  const held = await holder.getLock(name).acquire()
  expect(await look.at.hgetall(name)).to.deep.equal({ [`${holder.getId()}:${held.threadId}`]: '1' })
  const waiting = other.getLock(name).acquire()
  await waitUntil('the waiter is subscribed', async () => (await look.subscribers(lockChannel(name))) === 1)
  const took = await timed(async () => {
    await held.unlock()
    const second = await waiting
    expect(Object.keys(await look.at.hgetall(name))).to.deep.equal([`${other.getId()}:${second.threadId}`])
    await second.unlock()
  })
  expect(took).to.be.below(SOON)
  expect(await look.at.hgetall(name)).to.deep.equal({})
}

/** The view of a single server through one connection. */
export function through(redis: Redis): Look {
  return {
    at: redis,
    subscribers: async (channel) => ((await redis.pubsub('NUMSUB', channel)) as [string, number])[1],
  }
}

/** How the mode AUTO of a cluster subscribes, for which the servers count with this. */
export const countedByAuto = async (): Promise<'NUMSUB' | 'SHARDNUMSUB'> =>
  (await serverHas('sharded pub/sub')) ? 'SHARDNUMSUB' : 'NUMSUB'

/** Sums what the nodes answer to PUBSUB NUMSUB or SHARDNUMSUB; by default to that of the mode AUTO. */
export async function subscribersOn(
  nodes: readonly Address[],
  channel: string,
  counted?: 'NUMSUB' | 'SHARDNUMSUB',
): Promise<number> {
  const command = counted ?? (await countedByAuto())
  const counts = await Promise.all(
    nodes.map((node) => withClient(node, (client) => client.call('PUBSUB', command, channel))),
  )
  return counts.reduce((sum: number, reply) => sum + Number((reply as [string, number])[1]), 0)
}

/** The ids of the clients beside the one that asks: neither replicas, nor primaries, nor sentinels. */
export async function connected(redis: Redis): Promise<string[]> {
  const own = String(await redis.client('ID'))
  const list = (await redis.client('LIST')) as string
  const ids = list
    .trim()
    .split('\n')
    .filter((line) => !/ flags=[MS]| name=sentinel-/.test(line))
    .map((line) => /id=(\d+)/.exec(line)![1]!)
  return ids.filter((id) => id !== own)
}

/** A server that accepts connections and never says a word. Closed after the test. */
export async function openBlackHole(): Promise<Address> {
  const server: Server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
  })
  const sockets = new Set<{ destroy(): void }>()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  return closedLater('proxy', { host: '127.0.0.1', port }, () => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
}

/** Runs a script (JavaScript, relative to the repository) in a process of its own, which must end by itself; resolves with what it printed. */
export async function runsToItsEnd(script: string): Promise<string> {
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  child.stdout.on('data', (chunk) => (output += chunk))
  child.stderr.on('data', (chunk) => (output += chunk))
  const timer = setTimeout(() => child.kill('SIGKILL'), 20_000)
  const [code, signal] = await once(child, 'close')
  clearTimeout(timer)
  expect({ code, signal, output: code === 0 ? '' : output }).to.deep.equal({
    code: 0,
    signal: null,
    output: '',
  })
  return output
}
