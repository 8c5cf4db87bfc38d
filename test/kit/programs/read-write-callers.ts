// Goes through both sides of a read-write lock for a while and prints what came of it.
// Arguments: the server's URL, the watchdog timeout in ms, a CallersSpec as JSON. Starts at a line of input.
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { Redis } from 'ioredis'
import { Redisson } from '../../../src/index'
import { runCallers } from '../read-write/callers'

async function main() {
  const [url = '', lockWatchdogTimeout, spec = ''] = process.argv.slice(2)
  const redisson = await Redisson.create({ redis: url, lockWatchdogTimeout: Number(lockWatchdogTimeout) })
  const redis = new Redis(url)
  await redis.ping()
  const input = createInterface({ input: process.stdin })
  console.log('ready')
  await once(input, 'line')
  const report = await runCallers(redisson, redis, JSON.parse(spec))
  console.log(JSON.stringify(report))
  await redisson.shutdown()
  redis.disconnect()
  process.stdin.destroy()
}

void main()
