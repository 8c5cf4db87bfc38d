// 1,000 callers of one process wait at a limiter of 100 a second: how many commands that costs, and how long it takes.
//
//   npm install --no-save bottleneck rate-limiter-flexible && node --import tsx bench/limiters.ts [redis://…] [package]
//
// Java's needs a JDK and Maven.
import { Redis } from 'ioredis'
import { RateType, Redisson } from 'rlock'
import { REDISSON_VERSIONS, startJavaPeer } from '../test/kit/java'

const [url = 'redis://127.0.0.1:6379', only] = process.argv.slice(2)
const [CALLERS, RATE, INTERVAL] = [1_000, 100, 1_000]

/** Lets one caller through; and ends. */
interface Limiter {
  enter(): Promise<unknown>
  end(): unknown
}

/** The peers have types of their own, which need not be here. */
const peer = (name: string) => import(name)

const LIMITERS: Record<string, (name: string) => Promise<Limiter>> = {
  async rlock(name) {
    const redisson = await Redisson.create({ redis: url })
    const limiter = redisson.getRateLimiter(name)
    await limiter.trySetRate(RateType.OVERALL, RATE, INTERVAL)
    return { enter: () => limiter.acquire(), end: () => redisson.shutdown() }
  },
  async bottleneck(id) {
    const { default: Bottleneck } = await peer('bottleneck')
    const limiter = new Bottleneck({
      ...{ id, datastore: 'ioredis', clientOptions: { port: Number(new URL(url).port) }, Redis },
      ...{ reservoir: RATE, reservoirRefreshAmount: RATE, reservoirRefreshInterval: INTERVAL },
      // By default it looks each 5 s whether the next interval has begun.
      heartbeatInterval: 250,
    })
    await limiter.ready()
    return { enter: () => limiter.schedule(async () => {}), end: () => limiter.disconnect() }
  },
  async 'rate-limiter-flexible'(keyPrefix) {
    const { RateLimiterQueue, RateLimiterRedis } = await peer('rate-limiter-flexible')
    const storeClient = new Redis(url)
    const limiter = new RateLimiterRedis({ storeClient, keyPrefix, points: RATE, duration: INTERVAL / 1_000 })
    const queue = new RateLimiterQueue(limiter, { maxQueueSize: CALLERS })
    return { enter: () => queue.removeTokens(1), end: () => storeClient.disconnect() }
  },
  async java(name) {
    const java = await startJavaPeer({ version: REDISSON_VERSIONS.newest, redis: url })
    let threads = 0
    const call = (method: string, ...args: unknown[]) =>
      java.thread(`thread ${threads++}`).ask('call', { getter: 'getRateLimiter', name, method, args })
    await call('trySetRate', 'OVERALL', RATE, INTERVAL)
    return { enter: () => call('acquire'), end: () => java.kill() }
  },
}

async function main(): Promise<void> {
  const redis = new Redis(url)
  for (const [name, create] of Object.entries(LIMITERS)) {
    if (only !== undefined && only !== name) continue
    const limiter = await create(`limiter:${process.pid}`)
    const monitor = await redis.monitor()
    let commands = 0
    // What a script calls is no command of a client.
    monitor.on('monitor', (_time, _words, source) => {
      if (source !== 'lua') commands++
    })
    const began = performance.now()
    await Promise.all(Array.from({ length: CALLERS }, () => limiter.enter()))
    const seconds = (performance.now() - began) / 1_000
    await limiter.end()
    monitor.disconnect()
    console.log(`${name}: ${commands} commands, ${seconds.toFixed(1)} s`)
  }
  redis.disconnect()
}

void main()
