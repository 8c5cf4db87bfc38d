import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { javaAvailability } from '../../test/kit/java/availability'
import { javaBenchWorker } from '../../test/kit/java/bench-worker'
import { REDISSON_VERSIONS } from '../../test/kit/java/versions'
import type { Command } from './worker-process'

const ROOT = join(__dirname, '../..')
const BENCH = join(ROOT, 'bench')
const OUTPUT = join(BENCH, 'dist')

/** How to start the process that is measured; without Java there is none for it. */
export type Workers = { readonly node: Command; readonly java?: Command & JavaVersions }

export interface JavaVersions {
  readonly redisson: string
  readonly jvm: string
}

/** Builds rlock as it is published. */
export function buildPackage(): void {
  run(process.execPath, [join(ROOT, 'scripts/build.mjs')], 'the package could not be built')
}

/**
 * Plain JavaScript for plain node: what runs TypeScript directly would be in the figures. The worker finds the
 * package in that directory by the name that a user imports.
 */
export async function nodeWorker(rlock = ROOT, output = OUTPUT): Promise<Command> {
  rmSync(output, { recursive: true, force: true })
  mkdirSync(join(output, 'node_modules'), { recursive: true })
  symlinkSync(rlock, join(output, 'node_modules/rlock'), 'dir')
  const outfile = join(output, 'worker.js')
  await build({
    entryPoints: [join(BENCH, 'worker/worker.ts')],
    bundle: true,
    packages: 'external',
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    loader: { '.lua': 'text' },
    logLevel: 'error',
    outfile,
  })
  return { program: process.execPath, args: ['--expose-gc', outfile] }
}

/** Built by Maven where it is not yet, which may have to download first. Answers why not, where it cannot be. */
export async function javaWorker(): Promise<(Command & JavaVersions) | { readonly missing: string }> {
  const java = await javaAvailability()
  if (!java.available) return { missing: java.reason }
  const redisson = REDISSON_VERSIONS.newest
  const { command: program, args } = await javaBenchWorker(redisson)
  const [jvm] = execFileSync(program, ['--version'], { encoding: 'utf8' }).split('\n')
  return { program, args, redisson, jvm: jvm! }
}

/** Installs the peers, where they are not. */
export function installPeers(): void {
  const { dependencies } = JSON.parse(readFileSync(join(BENCH, 'package.json'), 'utf8'))
  const missing = Object.keys(dependencies).some((name) => !existsSync(join(BENCH, 'node_modules', name)))
  if (missing) run('npm', ['install', '--prefix', BENCH], 'the peers could not be installed')
}

function run(command: string, args: string[], failure: string): void {
  const { status } = spawnSync(command, args, { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'] })
  if (status !== 0) throw new Error(failure)
}
