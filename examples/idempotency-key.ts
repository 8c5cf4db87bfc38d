// Express: a payment that is sent again, to any instance, gets the answer of the first one. The header is Idempotency-Key.
import { idempotencyKey } from '@rlock/recipes/express'
import express from 'express'
import { Redisson } from 'rlock'

async function main(): Promise<void> {
  const redisson = await Redisson.create({ redis: process.env.REDIS_URL ?? 'redis://127.0.0.1:6379' })
  redisson.on('error', console.warn)
  const app = express()

  const idempotent = idempotencyKey(redisson, { required: true })
  app.post('/payments', express.json(), idempotent, async (request, response) => {
    response.status(201).json(await pay(request.body))
  })

  const server = app.listen(Number(process.env.PORT ?? 3000), () => console.log('ready', server.address()))
  process.once('SIGTERM', () => server.close(() => redisson.shutdown()))
}

let payments = 0
async function pay(body: unknown): Promise<object> {
  await new Promise((resolve) => setTimeout(resolve, 200))
  return { payment: ++payments, of: body }
}

void main()
