import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'

/** Ends with its parent, however that ends. */
const SPIN =
  'const { ppid } = process; while (process.ppid === ppid) for (let turns = 0; turns < 1e8; turns++);'

/**
 * Keeps each core busy with a process, until `letSleep` is called. A core without work falls asleep, and on some machines it needs
 * longer to wake up than Redis needs for a command.
 *
 * The processes are of the idle class of Linux: all that is measured runs before them, and a core that has nothing else counts as
 * free. Beside processes of the lowest priority no core would be free, and client and server would share one.
 */
export async function keepCoresAwake() {
  const spinning = Array.from({ length: availableParallelism() }, () =>
    spawn('chrt', ['--idle', '0', process.execPath, '-e', SPIN], { stdio: 'ignore' }),
  )
  try {
    await Promise.all(spinning.map((each) => once(each, 'spawn')))
  } catch (cause) {
    throw new Error('--keep-awake needs Linux and chrt, which util-linux has', { cause })
  }
  const letSleep = async () => {
    for (const each of spinning) each.kill()
    await Promise.all(spinning.map((each) => each.signalCode ?? each.exitCode ?? once(each, 'exit')))
  }
  return { pids: spinning.map(({ pid }) => pid!), letSleep }
}

/** Runs `measure`, with the cores awake where that is asked for. */
export async function withCoresAwake<T>(areAwake: boolean, measure: () => Promise<T>): Promise<T> {
  const awake = areAwake ? await keepCoresAwake() : undefined
  try {
    return await measure()
  } finally {
    await awake?.letSleep()
  }
}
