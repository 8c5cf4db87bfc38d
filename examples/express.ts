// Express: a lock in a handler. A request that finds it taken for half a second is answered with 409.
import express from 'express'
import { LockTimeoutError, Redisson } from 'rlock'

async function main(): Promise<void> {
  const redisson = await Redisson.create({ redis: process.env.REDIS_URL ?? 'redis://127.0.0.1:6379' })
  redisson.on('error', console.warn).on('lockLost', ({ error }) => console.error(error))
  const app = express()

  app.post('/orders/:id/pay', async (req, res) => {
    const lock = redisson.getLock(`order:${req.params.id}`)
    res.send(await lock.withLock(() => pay(req.params.id), { waitTime: 500 }))
  })

  app.use(((error, _req, res, next) => {
    if (error instanceof LockTimeoutError) res.status(409).send('the order is being paid')
    else next(error)
  }) satisfies express.ErrorRequestHandler)

  const server = app.listen(Number(process.env.PORT ?? 3000), () => console.log('ready', server.address()))
  process.once('SIGTERM', () => {
    // First no new requests; the client ends when those under way have been answered.
    server.close(() => redisson.shutdown({ timeout: 10_000 }))
  })
}

async function pay(id: string): Promise<string> {
  await new Promise((resolve) => setTimeout(resolve, 1_000))
  return `paid ${id}`
}

void main()
