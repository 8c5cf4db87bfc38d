// Goes through a multi lock so many times, its members in a new random order each time, and counts without INCR.
// Arguments: the server's port, the members' names with commas, the turns, the counter's key.
// Prints `ready`, begins at a line, and prints the longest wait in ms when it is through.
import { once } from 'node:events'
import { Redis } from 'ioredis'
import { Redisson } from '../../../src/index'

async function main() {
  const [port, names, turns, counterKey] = process.argv.slice(2)
  const url = `redis://127.0.0.1:${port}`
  const [redisson, redis] = [await Redisson.create({ redis: url }), new Redis(url)]
  console.log('ready')
  await once(process.stdin, 'data')
  let longest = 0
  for (let turn = 0; turn < Number(turns); turn++) {
    const order = names!.split(',').sort(() => Math.random() - 0.5)
    const lock = redisson.getMultiLock(...order.map((name) => redisson.getLock(name)))
    const asked = performance.now()
    await lock.withLock(async () => {
      longest = Math.max(longest, performance.now() - asked)
      const count = Number(await redis.get(counterKey!))
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 4))
      await redis.set(counterKey!, count + 1)
    })
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 4))
  }
  console.log(Math.round(longest))
  await redisson.shutdown()
  redis.disconnect()
  process.stdin.destroy()
}

void main()
