// One of the demo's Node processes. It says nothing about who held the lock when: Redis is asked that.
import { setTimeout as sleep } from 'node:timers/promises'
import Redis from 'ioredis'
import { Redisson } from '../src'
import { type FromWorker, HOLD_MS, type ToWorker, type WorkerSetup } from './messages'

async function main(): Promise<void> {
  const { who, url, keys, flows, pauseMs } = JSON.parse(process.argv[2]!) as WorkerSetup
  const redisson = await Redisson.create({ redis: url })
  const redis = new Redis(url)
  const lock = redisson.getLock(lockName(keys.lock, who))

  tell({ ready: redisson.getId() })
  const deadline = performance.now() + (await startSignal()).runForMs

  await Promise.all(
    Array.from({ length: flows }, async (_, i) => {
      while (performance.now() < deadline) {
        const asked = performance.now()
        await lock.withLock(() => section(`flow-${i + 1}`, performance.now() - asked))
        await sleep(Math.random() * pauseMs)
      }
    }),
  )

  /** All of it goes wrong, visibly, when two are inside. The Java peer does the same. */
  async function section(thread: string, waitMs: number): Promise<void> {
    await record(thread, 'acquired', waitMs)
    const before = Number(await redis.get(keys.counter))
    await sleep(HOLD_MS[0] + Math.random() * (HOLD_MS[1] - HOLD_MS[0]))
    await redis.set(keys.counter, before + 1)
    await record(thread, 'released', waitMs)
  }

  async function record(thread: string, event: string, waitMs: number): Promise<void> {
    const entry = { who, thread, type: 'lock', event, waitMs: waitMs.toFixed(3) }
    await redis.xadd(keys.log, '*', ...Object.entries(entry).flat())
  }

  await redisson.shutdown()
  await redis.quit()
  tell({ done: true })
  process.disconnect()
}

/** For the test that the demo can fail: each process locks a name of its own, so that nothing is excluded. */
function lockName(name: string, who: string): string {
  return process.env.RLOCK_DEMO_TEST_BREAK_LOCK ? `${name}:${who}` : name
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
