import { mkdir, readlink, symlink, unlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const POLL_MS = 200

/**
 * Lets one process of this machine at a time run `work`. A symlink that "points" to the owner's
 * pid is created and read in one step each, so a dead owner is always recognised.
 *
 * Two waiters may, very rarely, both take over from the same dead owner. That costs a second
 * build, not a broken one, because builds are put in place by a rename.
 */
export async function oneAtATime<T>(path: string, work: () => Promise<T>): Promise<T> {
  await mkdir(dirname(path), { recursive: true })
  while (!(await take(path))) {
    const owner = await readlink(path).catch(() => undefined)
    if (owner !== undefined && !isAlive(Number(owner))) await unlink(path).catch(() => {})
    else await sleep(POLL_MS)
  }
  try {
    return await work()
  } finally {
    await unlink(path).catch(() => {})
  }
}

async function take(path: string): Promise<boolean> {
  try {
    await symlink(String(process.pid), path)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
