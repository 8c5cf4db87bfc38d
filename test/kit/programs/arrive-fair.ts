// Callers of a fair lock, which come on request and write down their numbers when they are inside.
// Arguments: the server's URL, the lock's name, the key of the list of numbers.
// Prints `ready`; every line is the number of one more caller; prints the number once that caller has released.
import { createInterface } from 'node:readline'
import { Redis } from 'ioredis'
import { Redisson } from '../../../src/index'

async function main() {
  const [url = '', name = '', log = ''] = process.argv.slice(2)
  const redis = new Redis(url)
  const redisson = await Redisson.create({ redis: url })
  const lock = redisson.getFairLock(name)
  createInterface({ input: process.stdin }).on('line', async (number) => {
    await lock.withLock(() => redis.rpush(log, number))
    console.log(number)
  })
  console.log('ready')
}

void main()
