// A server whose locks Prometheus watches: it scrapes /metrics.
import express from 'express'
import { Registry } from 'prom-client'
import { LockTimeoutError, Redisson } from 'rlock'
import { measureLocks } from './prometheus'

async function main(): Promise<void> {
  const register = new Registry()
  // order:42 counts as order.
  measureLocks(register, (lockName) => lockName.split(':', 1)[0]!)
  const redisson = await Redisson.create({ redis: process.env.REDIS_URL ?? 'redis://127.0.0.1:6379' })
  redisson.on('error', console.warn)
  const app = express()

  app.get('/metrics', async (_req, res) => {
    res.type(register.contentType).send(await register.metrics())
  })
  app.post('/orders/:id/pay', async (req, res) => {
    const lock = redisson.getLock(`order:${req.params.id}`)
    res.send(await lock.withLock(() => pay(req.params.id), { waitTime: 500 }))
  })
  app.use(((error, _req, res, _next) => {
    res.status(error instanceof LockTimeoutError ? 409 : 500).send(error.message)
  }) satisfies express.ErrorRequestHandler)

  const server = app.listen(Number(process.env.PORT ?? 3000), () => console.log('ready', server.address()))
  process.once('SIGTERM', () => server.close(() => redisson.shutdown({ timeout: 10_000 })))
}

async function pay(id: string): Promise<string> {
  await new Promise((resolve) => setTimeout(resolve, 1_000))
  return `paid ${id}`
}

void main()
