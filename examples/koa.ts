// Koa: a middleware makes each request a logical thread, in which a lock can be entered again and again.
import Koa from 'koa'
import { Redisson } from 'rlock'

async function main(): Promise<void> {
  const redisson = await Redisson.create({ redis: process.env.REDIS_URL ?? 'redis://127.0.0.1:6379' })
  redisson.on('error', console.warn).on('lockLost', ({ error }) => console.error(error))
  const app = new Koa()

  // next() lasts as long as the rest of the chain. In Express it does not: see docs/guides/frameworks.md.
  app.use((_ctx, next) => redisson.run(next))
  app.use(async (ctx) => {
    const id = /^\/orders\/(\w+)\/pay$/.exec(ctx.path)?.[1]
    if (id === undefined) return
    const lock = redisson.getLock(`order:${id}`)
    if (!(await lock.tryLock(500))) return ctx.throw(409, 'the order is being paid')
    try {
      ctx.body = await pay(lock, id)
    } finally {
      await lock.unlock()
    }
  })

  const server = app.listen(Number(process.env.PORT ?? 3000), () => console.log('ready', server.address()))
  process.once('SIGTERM', () => {
    server.close(() => redisson.shutdown({ timeout: 10_000 }))
  })
}

/** Locks for itself as well: within one request that is a re-entry. */
async function pay(lock: ReturnType<Redisson['getLock']>, id: string): Promise<string> {
  return await lock.withLock(() => new Promise((resolve) => setTimeout(resolve, 1_000, `paid ${id}`)))
}

void main()
