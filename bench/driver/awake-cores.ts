import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism, constants, setPriority } from 'node:os'

/** Ends with its parent, however that ends. */
const SPIN =
  'const { ppid } = process; while (process.ppid === ppid) for (let turns = 0; turns < 1e8; turns++);'

/**
 * Keeps each core busy with a process of the lowest priority, until `letSleep` is called. A core without work falls
 * asleep, and on some machines it needs longer to wake up than Redis needs for a command. All that is measured runs before these
 * processes.
 */
export function keepCoresAwake() {
  const spinning = Array.from({ length: availableParallelism() }, () =>
    spawn(process.execPath, ['-e', SPIN], { stdio: 'ignore' }),
  )
  const pids = spinning.flatMap(({ pid }) => pid ?? [])
  for (const pid of pids) setPriority(pid, constants.priority.PRIORITY_LOW)
  const letSleep = async () => {
    for (const each of spinning) each.kill()
    await Promise.all(spinning.map((each) => once(each, 'exit')))
  }
  return { pids, letSleep }
}
