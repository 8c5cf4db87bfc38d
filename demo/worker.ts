// One of the demo's Node processes. It says nothing about who held the lock when: Redis is asked that.
import Redis from 'ioredis'
import { Redisson } from '../src'
import { contend } from './contend'
import { startToMeasure } from './measuring'
import type { FromWorker, ToWorker, WorkerSetup } from './messages'

async function main(): Promise<void> {
  const [url, setup] = JSON.parse(process.argv[2]!) as [string, WorkerSetup]
  const scrape = setup.metrics ? startToMeasure() : undefined
  const redisson = await Redisson.create({ redis: url })
  const redis = new Redis(url)
  tell({ ready: redisson.getId() })
  const { runForMs } = await startSignal()
  await contend(redisson, redis, setup, runForMs)

  await redisson.shutdown()
  await redis.quit()
  tell({ done: true, scrape: await scrape?.() })
  process.disconnect()
}

function tell(message: FromWorker): void {
  process.send!(message)
}

function startSignal(): Promise<ToWorker> {
  return new Promise((resolve) => process.once('message', resolve))
}

// Ctrl-C reaches every process of the terminal; the demo decides what ends when.
process.on('SIGINT', () => {})
const orphaned = () => process.exit(1)
process.once('disconnect', orphaned)
main().then(
  () => process.off('disconnect', orphaned),
  (failure) => {
    console.error(failure)
    process.exit(1)
  },
)
