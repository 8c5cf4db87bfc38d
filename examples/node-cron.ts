// node-cron on N instances: of each tick, the instance that asks first runs the job. Its own coordinator asks an environment variable.
import { once } from '@rlock/recipes'
import { type RunCoordinator, schedule, setRunCoordinator, shutdown } from 'node-cron'
import { Redisson } from 'rlock'

/** `key` has the name of the task and the time of the tick. The answer is kept for longer than the clocks differ. */
function coordinator(redisson: Redisson): RunCoordinator {
  return {
    shouldRun: async (key, lease) => {
      const { first } = await once(redisson, `cron:${key}`, () => process.pid, { keep: lease })
      return first
    },
  }
}

async function main(): Promise<void> {
  const redisson = await Redisson.create({ redis: process.env.REDIS_URL ?? 'redis://127.0.0.1:6379' })
  redisson.on('error', console.warn)
  setRunCoordinator(coordinator(redisson))
  const options = { name: 'report', distributed: true, distributedLease: 30_000 }
  schedule('* * * * * *', () => console.log(`ran ${Math.round(Date.now() / 1_000)}`), options)
  console.log('ready')
  process.once('SIGTERM', async () => {
    await shutdown()
    await redisson.shutdown()
    process.exit()
  })
}

void main()
