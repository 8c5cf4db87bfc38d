import type { ChildProcess } from 'node:child_process'

// A peer ends by itself when its stdin closes, so even a killed test run leaves none behind. Only a
// stopped one cannot notice; hence the signals as well.
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
const living = new Set<ChildProcess>()

/** From here on this child does not outlive the process. */
export function adopt(child: ChildProcess): void {
  if (living.size === 0) {
    process.on('exit', killAll)
    for (const signal of SIGNALS) process.on(signal, killAllAndGo)
  }
  living.add(child)
  child.once('exit', () => {
    living.delete(child)
    if (living.size === 0) leaveProcessAlone()
  })
}

function killAll(): void {
  for (const child of living) child.kill('SIGKILL')
}

/** Does what the signal would have done without us, unless somebody else handles it too. */
function killAllAndGo(signal: NodeJS.Signals): void {
  killAll()
  leaveProcessAlone()
  if (process.listenerCount(signal) === 0) process.kill(process.pid, signal)
}

function leaveProcessAlone(): void {
  process.off('exit', killAll)
  for (const signal of SIGNALS) process.off(signal, killAllAndGo)
}
