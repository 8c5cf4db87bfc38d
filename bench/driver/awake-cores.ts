import { spawn } from 'node:child_process'
import { availableParallelism, constants, setPriority } from 'node:os'

/**
 * Keeps the cores of the machine awake by a process of the lowest priority on each, until the returned function is called. Where
 * a core sleeps between two messages, waking it takes several times as long as what is measured, and whether it sleeps changes
 * from one round to the next.
 */
export function keepCoresAwake(): () => void {
  const spinners = Array.from({ length: availableParallelism() }, () => {
    const spinner = spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' })
    spinner.unref()
    if (spinner.pid !== undefined) setPriority(spinner.pid, constants.priority.PRIORITY_LOW)
    return spinner
  })
  const stop = () => {
    for (const spinner of spinners) spinner.kill('SIGKILL')
  }
  process.once('exit', stop)
  return () => {
    process.off('exit', stop)
    stop()
  }
}
