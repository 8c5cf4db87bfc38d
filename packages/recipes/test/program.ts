// The processes of the tests, by the first argument. Each takes the URL of the server, the
// watchdog timeout in ms, a name, and then its own.
import { once as event } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createInterface } from 'node:readline'
import express from 'express'
import { Redis } from 'ioredis'
import { Redisson } from '../../../src/index'
import { idempotencyKey } from '../src/express'
import { elect, once, takeSlot } from '../src/index'

type Program = (redisson: Redisson, name: string, rest: readonly string[]) => Promise<unknown>

const lines = () => createInterface({ input: process.stdin })

/** Prints the time and its term whenever it finds that it leads. The line "resign" resigns. */
const candidate: Program = async (redisson, name, [label]) => {
  const election = elect(redisson, name, { label: label! })
  lines().on('line', () => void election.resign())
  console.log('stands')
  setInterval(() => {
    // The process may be stopped between any two of these: the time is from before the look.
    const time = Date.now()
    const { term } = election
    if (term !== undefined) console.log(`${time} ${term}`)
  }, 5)
}

/** Says when the run begins and when the call has returned. The run ends with the line "end". */
const run: Program = async (redisson, key) => {
  const input = lines()
  const begin = async () => {
    console.log('begun')
    await event(input, 'line')
    return `value of ${process.pid}`
  }
  const { first, value } = await once(redisson, key, begin, { keep: 60_000 })
  console.log(`${first} ${value}`)
}

/** Keeps a slot, of so many, until the process is killed. */
const slot: Program = async (redisson, name, [count]) => {
  const { index } = await takeSlot(redisson, name, Number(count))
  console.log(index)
  process.stdin.resume()
}

/** An app whose process ends at the moment that is asked for. The runs of its handler are counted in Redis. */
const payments: Program = async (redisson, counter, [moment = '', url = '']) => {
  const redis = new Redis(url)
  const die = () => process.kill(process.pid, 'SIGKILL')
  const app = express()
  app.use(express.json())
  app.use((_, response, next) => {
    // Called once the answer is stored.
    if (moment.startsWith('after')) response.end = die as never
    next()
  })
  app.use(idempotencyKey(redisson, { waitTime: 10_000 }))
  app.post('/pay', async (_, response) => {
    const run = await redis.incr(counter)
    if (moment === 'in the handler') die()
    response.json({ run })
    if (moment.startsWith('before')) die()
  })
  const server = createServer(app)
  server.listen(0, '127.0.0.1', () => {
    console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  })
}

async function main() {
  const [what = '', redis = '', lockWatchdogTimeout, name = '', ...rest] = process.argv.slice(2)
  const redisson = await Redisson.create({ redis, lockWatchdogTimeout: Number(lockWatchdogTimeout) })
  redisson.on('error', () => {})
  await { candidate, run, slot, payments }[what]!(redisson, name, [...rest, redis])
}

void main()
