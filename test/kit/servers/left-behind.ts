import { type ChildProcess, spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'

// What this process has started and not yet ended. However the process ends, short of a SIGKILL to itself,
// the children are killed and their directories removed: a crashed test run must leave nothing behind.
const children = new Set<ChildProcess>()
const directories = new Set<string>()
const containers = new Set<string>()
let guarding = false

export function endWithThisProcess(child: ChildProcess): void {
  guard()
  children.add(child)
  child.once('exit', () => children.delete(child))
}

export function removeWithThisProcess(directory: string): void {
  guard()
  directories.add(directory)
}

export function removeContainerWithThisProcess(id: string): void {
  guard()
  containers.add(id)
}

export function containerIsRemoved(id: string): void {
  containers.delete(id)
}

export function removeNow(directory: string): void {
  rmSync(directory, { recursive: true, force: true })
  directories.delete(directory)
}

function guard(): void {
  if (guarding) return
  guarding = true
  process.on('exit', sweep)
  // A signal without a listener ends the process without its 'exit' event.
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const) {
    process.on(signal, () => {
      // Other listeners shut down in an order of their own and may need the servers until then.
      if (process.listenerCount(signal) === 1) process.exit(code)
    })
  }
}

function sweep(): void {
  for (const child of children) child.kill('SIGKILL')
  // For an engine without a reaper. Where its command is missing the reaper has to do.
  if (containers.size > 0) spawnSync('docker', ['rm', '--force', ...containers], { stdio: 'ignore' })
  for (const directory of directories) {
    // A server in its last moments may still write a file into it; what the system's temporary
    // directory then keeps is a few bytes.
    try {
      rmSync(directory, { recursive: true, force: true })
    } catch {}
  }
}
