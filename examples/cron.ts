// Cron on N instances: all of them start this job each minute, and one of them runs it.
import { Redisson } from 'rlock'

const PERIOD = Number(process.env.PERIOD ?? 60_000)

async function main(): Promise<void> {
  const redisson = await Redisson.create({ redis: process.env.REDIS_URL ?? 'redis://127.0.0.1:6379' })
  redisson.on('error', console.warn).on('lockLost', ({ error }) => console.error(error))

  async function tick(): Promise<void> {
    // Shorter than the period, and longer than the clocks of the instances differ.
    const ran = await redisson.runOnce('cron:report', ({ signal }) => sendReport(signal), {
      atLeast: PERIOD * 0.8,
    })
    console.log(ran ? 'ran' : 'skipped')
  }

  // In place of a cron library: at each full minute.
  let timer: NodeJS.Timeout
  const next = (): void => {
    timer = setTimeout(() => tick().catch(console.error).finally(next), PERIOD - (Date.now() % PERIOD))
  }
  next()
  console.log('ready')

  process.once('SIGTERM', async () => {
    clearTimeout(timer)
    await redisson.shutdown({ timeout: 10_000 })
    process.exit()
  })
}

async function sendReport(signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
}

void main()
