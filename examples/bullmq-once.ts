// BullMQ runs a job again when its worker was taken for dead. Here the second run gets the result of the first one.
import { once } from '@rlock/recipes'
import { type Job, Worker } from 'bullmq'
import { Redisson } from 'rlock'

const url = process.env.REDIS_URL ?? 'redis://127.0.0.1:6379'
const DAY = 86_400_000

/** A processor that runs once for each payment, also where two jobs have the same one. */
function oncePayment<R>(redisson: Redisson, processor: (job: Job, signal: AbortSignal) => Promise<R>) {
  return async (job: Job): Promise<R> => {
    const key = `payment:${job.data.payment}`
    const { value } = await once(redisson, key, ({ signal }) => processor(job, signal), { keep: DAY })
    return value
  }
}

async function main(): Promise<void> {
  const redisson = await Redisson.create({ redis: url })
  redisson.on('error', console.warn)
  const worker = new Worker('payments', oncePayment(redisson, pay), { connection: { url }, concurrency: 10 })
  worker.on('ready', () => console.log('ready')).on('error', console.warn)
  process.once('SIGTERM', async () => {
    await worker.close()
    await redisson.shutdown()
  })
}

async function pay(job: Job, signal: AbortSignal): Promise<string> {
  signal.throwIfAborted() // another worker has the payment now
  return `paid ${job.data.payment} in job ${job.id}`
}

void main()
