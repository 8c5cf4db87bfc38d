// BullMQ: no two jobs work on one order at a time. A job whose order is taken makes room for others, and comes again.
import { DelayedError, Worker } from 'bullmq'
import { Redisson } from 'rlock'

const url = process.env.REDIS_URL ?? 'redis://127.0.0.1:6379'

async function main(): Promise<void> {
  const redisson = await Redisson.create({ redis: url })
  redisson.on('error', console.warn).on('lockLost', ({ error }) => console.error(error))

  const worker = new Worker<{ order: string }>(
    'pay',
    async (job, token) => {
      const hold = await redisson.getLock(`order:${job.data.order}`).tryAcquire()
      if (!hold) {
        await job.moveToDelayed(Date.now() + 1_000, token) // comes again in a second, with its attempts as before
        throw new DelayedError() // tells the worker that the job was moved, and has not failed
      }
      try {
        return await pay(job.data.order, hold.signal)
      } finally {
        await hold.unlock()
      }
    },
    { connection: { url }, concurrency: 10 },
  )
  worker.on('ready', () => console.log('ready')).on('error', console.warn)
  process.once('SIGTERM', async () => {
    await worker.close() // takes no new jobs, and waits for those that run: they still need their locks
    await redisson.shutdown()
  })
}

async function pay(order: string, signal: AbortSignal): Promise<string> {
  await new Promise((resolve) => setTimeout(resolve, 700))
  signal.throwIfAborted() // the lock is lost: do not write
  return `paid ${order}`
}

void main()
