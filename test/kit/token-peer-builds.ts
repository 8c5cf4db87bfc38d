import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** The peers of other languages, downloaded and built once. Git ignores the folder. */
const BUILDS = join(__dirname, '..', '..', '.tmp', 'token-peers')
const REDIS_PY = 'redis==6.4.0'
/** The first build downloads what it needs. */
const BUILT_WITHIN = 150_000

const run = promisify(execFile)

/** Where Python finds redis-py. Rejects where it cannot be installed here. */
export async function redisPyPath(): Promise<string> {
  // What redis-py needs besides depends on the version of Python, and a PATH may lead to another one.
  const { stdout } = await run('python3', ['-c', 'import platform; print(platform.python_version())'])
  return await built(`${REDIS_PY}, Python ${stdout.trim()}`, (path) =>
    run('python3', ['-m', 'pip', 'install', '--quiet', '--target', path, REDIS_PY], {
      timeout: BUILT_WITHIN,
    }),
  )
}

/** The program in test/kit/redsync. Rejects where it cannot be built here. */
export function redsyncPeer(): Promise<string> {
  return built('redsync', (path) =>
    run('go', ['build', '-o', path, '.'], { cwd: join(__dirname, 'redsync'), timeout: BUILT_WITHIN }),
  )
}

/** Built beside its place and moved there as a whole: several test processes may build at once. */
async function built(name: string, build: (path: string) => Promise<unknown>): Promise<string> {
  const path = join(BUILDS, name)
  if (existsSync(path)) return path
  process.stderr.write(`Building the peer ${name}; the first build downloads it.\n`)
  await mkdir(BUILDS, { recursive: true })
  const own = `${path}.${process.pid}`
  await build(own)
  await rename(own, path).catch((error: unknown) => {
    if (!existsSync(path)) throw error
  })
  return path
}
