// An app whose process ends at the moment that is asked for. The runs of its handler are counted in Redis.
// Arguments: the server's port, the key of the counter, the moment, the watchdog timeout in ms.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { Redis } from 'ioredis'
import { Redisson } from '../../../../src/index'
import { idempotencyKey } from '../../src/express'

async function main() {
  const [port, counter, moment, lockWatchdogTimeout] = process.argv.slice(2)
  const url = `redis://127.0.0.1:${port}`
  const redisson = await Redisson.create({ redis: url, lockWatchdogTimeout: Number(lockWatchdogTimeout) })
  const redis = new Redis(url)
  const die = () => process.kill(process.pid, 'SIGKILL')
  const app = express()
  app.use(express.json())
  app.use((_, response, next) => {
    const { end } = response
    // Called once the answer is stored.
    if (moment!.startsWith('after')) response.end = die as never
    else response.end = end
    next()
  })
  app.use(idempotencyKey(redisson, { waitTime: 10_000 }))
  app.post('/pay', async (_, response) => {
    const run = await redis.incr(counter!)
    if (moment === 'in the handler') die()
    response.json({ run })
    if (moment!.startsWith('before')) die()
  })
  const server = createServer(app)
  server.listen(0, '127.0.0.1', () => {
    console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  })
}

void main()
