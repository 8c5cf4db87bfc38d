// One of the demo's Node processes. It says nothing about who held the lock when: Redis is asked that.
import { setTimeout as sleep } from 'node:timers/promises'
import Redis from 'ioredis'
import { Redisson } from '../src'
import { criticalSection } from './critical-section'
import type { FromWorker, Routine, ToWorker, WorkerSetup } from './messages'

async function main(): Promise<void> {
  const { who, url, keys, routines } = JSON.parse(process.argv[2]!) as WorkerSetup
  const redisson = await Redisson.create({ redis: url })
  const redis = new Redis(url)
  const name = lockName(keys.lock, who)
  const locks = {
    lock: () => redisson.getLock(name),
    read: () => redisson.getReadWriteLock(name).readLock(),
    write: () => redisson.getReadWriteLock(name).writeLock(),
  }

  tell({ ready: redisson.getId() })
  const deadline = performance.now() + (await startSignal()).runForMs

  const callers = routines.flatMap((routine) => Array<Routine>(routine.times).fill(routine))
  await Promise.all(
    callers.map(async (routine, i) => {
      const lock = locks[routine.side]()
      while (performance.now() < deadline) {
        const asked = performance.now()
        await lock.withLock(({ threadId }) => {
          const waitMs = performance.now() - asked
          return criticalSection(redis, keys, routine, { who, thread: `caller-${i + 1}`, threadId, waitMs })
        })
        await sleep(Math.random() * routine.pauseMs)
      }
    }),
  )

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
