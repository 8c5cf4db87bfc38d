import { setTimeout as sleep } from 'node:timers/promises'
import type { Redisson } from '../src'
import { type Commands, criticalSection } from './critical-section'
import type { Routine, WorkerSetup } from './messages'

/** The callers of one client take the lock over and over. Resolves when the time is up and the last section over. */
export async function contend(
  redisson: Redisson,
  commands: Commands,
  { who, keys, routines }: WorkerSetup,
  durationMs: number,
): Promise<void> {
  const name = lockName(keys.lock, who)
  const locks = {
    lock: () => redisson.getLock(name),
    read: () => redisson.getReadWriteLock(name).readLock(),
    write: () => redisson.getReadWriteLock(name).writeLock(),
  }
  const deadline = performance.now() + durationMs
  const callers = routines.flatMap((routine) => Array<Routine>(routine.times).fill(routine))
  await Promise.all(
    callers.map(async (routine, i) => {
      const lock = locks[routine.side]()
      while (performance.now() < deadline) {
        const asked = performance.now()
        await lock.withLock(({ threadId }) => {
          const waitMs = performance.now() - asked
          return criticalSection(commands, keys, routine, {
            who,
            thread: `caller-${i + 1}`,
            threadId,
            waitMs,
          })
        })
        await sleep(Math.random() * routine.pauseMs)
      }
    }),
  )
}

/** For the test that the demo can fail: each client locks a name of its own, so that nothing is excluded. */
function lockName(name: string, who: string): string {
  return process.env.RLOCK_DEMO_TEST_BREAK_LOCK ? `${name}:${who}` : name
}
