// node-cron on N instances: of each tick, the instance that asks first runs the job. Its own coordinator asks an environment variable.
import { once } from '@rlock/recipes'
import { schedule, setRunCoordinator, shutdown } from 'node-cron'
import { Redisson } from 'rlock'

/** `key` has the name of the task and the time of the tick. The answer is kept for longer than the clocks differ. */
async function isFirst(redisson: Redisson, key: string, lease: number): Promise<boolean> {
  const { first } = await once(redisson, `cron:${key}`, () => process.pid, { keep: lease })
  return first
}

async function main(): Promise<void> {
  const redisson = await Redisson.create({ redis: process.env.REDIS_URL ?? 'redis://127.0.0.1:6379' })
  redisson.on('error', console.warn)
  let asking: Promise<unknown> | undefined
  setRunCoordinator({
    shouldRun(key, lease) {
      const answer = isFirst(redisson, key, lease)
      asking = answer
      return answer
    },
  })
  const options = { name: 'report', distributed: true, distributedLease: 30_000 }
  schedule('* * * * * *', () => console.log(`ran ${Math.round(Date.now() / 1_000)}`), options)
  console.log('ready')
  process.once('SIGTERM', async () => {
    await shutdown()
    // node-cron waits for a job that runs, and not for a question.
    await Promise.allSettled([asking])
    await redisson.shutdown()
    process.exit()
  })
}

void main()
