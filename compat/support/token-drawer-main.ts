import { Redis } from 'ioredis'
import { Redisson } from '../../src/index'

/** Draws tokens of a fenced lock and logs each while it holds the lock: URL, lock, list, how many. */
async function main() {
  const [url = '', name = '', log = '', count = '0'] = process.argv.slice(2)
  const redis = new Redis(url)
  const redisson = await Redisson.create({ redis: url })
  const lock = redisson.getFencedLock(name)
  for (let each = 0; each < Number(count); each++)
    await lock.withLock(async ({ token }) => {
      await redis.rpush(log, `${token} ${redisson.getId()}`)
    })
  await redisson.shutdown()
  redis.disconnect()
}

void main()
