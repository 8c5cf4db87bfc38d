import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'

const ROOT = join(__dirname, '../..')
const BENCH = join(ROOT, 'bench')
const OUTPUT = join(BENCH, 'dist')

/** Builds rlock as it is published, and the worker that measures it. Returns the worker's program. */
export async function buildPrograms(): Promise<string> {
  run(process.execPath, [join(ROOT, 'scripts/build.mjs')], 'the package could not be built')
  return buildWorker()
}

/** Plain JavaScript for plain node: what runs TypeScript directly would be in the figures. */
export async function buildWorker(): Promise<string> {
  rmSync(OUTPUT, { recursive: true, force: true })
  mkdirSync(join(OUTPUT, 'node_modules'), { recursive: true })
  // So that the worker finds what was built by the name that a user imports.
  symlinkSync(ROOT, join(OUTPUT, 'node_modules/rlock'), 'dir')
  const outfile = join(OUTPUT, 'worker.js')
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
  return outfile
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
