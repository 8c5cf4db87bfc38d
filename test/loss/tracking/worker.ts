// Takes and frees locks as told over IPC, on the built package, tracked or not.
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Redis } from 'ioredis'
import type { Redisson as RedissonClass } from '../../../src/redisson'
import { readingLast } from './reading-last'

export interface Work {
  readonly name: string
  readonly flows: number
  readonly ms: number
}

export interface Done {
  readonly sections: number
  /** Invalidations received. */
  readonly messages: number
  /** µs of this process. */
  readonly cpu: number
}

const require = createRequire(__filename)
const dist = join(__dirname, '../../../dist')
const [url, tracked] = process.argv.slice(2) as [string, string]
let messages = 0

/** A client of the built package; what it has inside is reached into, for a trial that changes nothing in it. */
async function createClient(): Promise<RedissonClass> {
  if (tracked === 'tracked') {
    const { luaSources } = require(join(dist, 'scripts/lua.generated.js'))
    luaSources['lock/acquire'] = readingLast(luaSources['lock/acquire'])
  }
  const { Redisson } = require(join(dist, 'index.js'))
  const redisson: RedissonClass = await Redisson.create({ redis: url })
  if (tracked !== 'tracked') return redisson
  const { redis } = (redisson as unknown as { client: { commands: { redis: Redis } } }).client.commands
  const listener: Redis = redis.duplicate({ protocol: 2 })
  listener.on('messageBuffer', () => messages++)
  await listener.subscribe('__redis__:invalidate')
  await redis.call('CLIENT', 'TRACKING', 'ON', 'REDIRECT', await clientId(listener), 'NOLOOP')
  return redisson
}

/** A connection that listens may not ask for its id in RESP2; its name tells it to another. */
async function clientId(listener: Redis): Promise<string> {
  const asking = listener.duplicate({ protocol: 2 })
  await asking.connect()
  const { localPort } = listener.stream as unknown as { localPort: number }
  const list = String(await asking.call('CLIENT', 'LIST', 'TYPE', 'PUBSUB'))
  asking.disconnect()
  const line = list.split('\n').find((each) => each.includes(`:${localPort} `))
  return /^id=(\d+)/.exec(line!)![1]!
}

async function work(redisson: RedissonClass, { name, flows, ms }: Work): Promise<Done> {
  const lock = redisson.getLock(name)
  const before = { messages, cpu: process.cpuUsage() }
  const until = performance.now() + ms
  let sections = 0
  const flow = async () => {
    while (performance.now() < until) {
      const hold = await lock.acquire()
      sections++
      await hold.unlock()
    }
  }
  await Promise.all(Array.from({ length: flows }, flow))
  const { user, system } = process.cpuUsage(before.cpu)
  return { sections, messages: messages - before.messages, cpu: user + system }
}

async function main() {
  const redisson = await createClient()
  process.on('message', async (order: Work | { hold: number }) => {
    if ('hold' in order) {
      const names = Array.from({ length: order.hold }, (_, index) => `held:${process.pid}:${index}`)
      await Promise.all(names.map((name) => redisson.getLock(name).acquire()))
      process.send!('held')
    } else process.send!(await work(redisson, order))
  })
  process.on('disconnect', () => process.exit())
  process.send!('ready')
}

void main()
