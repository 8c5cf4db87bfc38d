// Takes and frees locks as told over IPC, on the built package, with its client tracking or another.
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Redis } from 'ioredis'
import type { Redisson as RedissonClass } from '../../../src/redisson'
import { readingLast } from './reading-last'

/**
 * - `none`: no tracking at all
 * - `renewed`: as the package does it, by a read behind each renewal
 * - `acquired`: from the acquisition on, by a script that reads once more
 */
export type Mode = 'none' | 'renewed' | 'acquired'

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
const [url, mode, lease] = process.argv.slice(2) as [string, Mode, string]
let messages = 0

/** A client of the built package, in which this trial changes what it needs otherwise. */
async function createClient(): Promise<RedissonClass> {
  const { KeyTracking } = require(join(dist, 'connection/key-tracking.js'))
  const { luaSources } = require(join(dist, 'scripts/lua.generated.js'))
  if (mode !== 'renewed') KeyTracking.prototype.watch = () => {}
  if (mode === 'acquired') luaSources['lock/acquire'] = readingLast(luaSources['lock/acquire'])
  const { Redisson } = require(join(dist, 'index.js'))
  const redisson: RedissonClass = await Redisson.create({ redis: url, lockWatchdogTimeout: Number(lease) })
  if (mode !== 'acquired') return redisson
  const { redis } = (redisson as unknown as { client: { commands: { redis: Redis } } }).client.commands
  const listener: Redis = redis.duplicate({ protocol: 2 })
  listener.on('messageBuffer', () => messages++)
  await listener.connect()
  const id = await listener.client('ID')
  await listener.subscribe('__redis__:invalidate')
  await redis.call('CLIENT', 'TRACKING', 'ON', 'REDIRECT', String(id), 'NOLOOP')
  return redisson
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

async function hold(redisson: RedissonClass, count: number) {
  for (let held = 0; held < count; held += 1_000)
    await Promise.all(
      Array.from({ length: 1_000 }, (_, index) => redisson.getLock(`held:${held + index}`).acquire()),
    )
}

async function main() {
  const redisson = await createClient()
  process.on('message', async (order: Work | { hold: number }) => {
    if ('hold' in order) {
      await hold(redisson, order.hold)
      process.send!('held')
    } else process.send!(await work(redisson, order))
  })
  process.on('disconnect', () => process.exit())
  process.send!('ready')
}

void main()
