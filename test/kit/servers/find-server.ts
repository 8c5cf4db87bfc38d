import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { canInstallServer, installServer } from './install-server'

/** Something we can start servers from. */
export type Launcher =
  | { readonly kind: 'binary'; readonly path: string }
  | { readonly kind: 'container'; readonly image: string }

/** A server that already runs, and is not ours: tests use scratch names only and never stop it. */
export type RunningServer = { readonly kind: 'address'; readonly url: string }

const DEFAULT_IMAGE = 'redis:7-alpine'

let launcher: Promise<Launcher> | undefined

/** The server for tests that share one: the address in RLOCK_TEST_REDIS_URL, else one we start. */
export async function findServer(): Promise<RunningServer | Launcher> {
  const url = process.env.RLOCK_TEST_REDIS_URL
  return url ? { kind: 'address', url } : findLauncher()
}

/** How to start servers of our own, for tests that stop, pause or configure them. Decided once a process. */
export function findLauncher(): Promise<Launcher> {
  launcher ??= decide()
  return launcher
}

async function decide(): Promise<Launcher> {
  const binary = process.env.RLOCK_TEST_REDIS_SERVER
  if (binary) {
    if (isExecutable(binary)) return { kind: 'binary', path: binary }
    throw new Error(`RLOCK_TEST_REDIS_SERVER names ${binary}, which is no executable file`)
  }

  // An image asked for by name is meant, even where a server is on the PATH.
  const image = process.env.RLOCK_TEST_REDIS_IMAGE
  if (image) {
    if (await hasContainerEngine()) return { kind: 'container', image }
    throw new Error(`RLOCK_TEST_REDIS_IMAGE names ${image}, but no container engine answers`)
  }

  const onPath = serverOnPath()
  if (onPath) return { kind: 'binary', path: onPath }
  if (await hasContainerEngine()) return { kind: 'container', image: DEFAULT_IMAGE }
  if (canInstallServer()) {
    await installServer()
    const installed = serverOnPath()
    if (installed) return { kind: 'binary', path: installed }
  }
  throw new Error(
    'No Redis to test against: install redis-server or valkey-server, start Docker, or set RLOCK_TEST_REDIS_URL (an address) or RLOCK_TEST_REDIS_SERVER (a binary)',
  )
}

function serverOnPath(): string | undefined {
  const directories = (process.env.PATH ?? '').split(delimiter).filter(Boolean)
  return ['redis-server', 'valkey-server']
    .flatMap((name) => directories.map((directory) => join(directory, name)))
    .find(isExecutable)
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}

async function hasContainerEngine(): Promise<boolean> {
  // Loaded only when needed: it is large, and most machines have a server on the PATH.
  const { getContainerRuntimeClient } = await import('testcontainers')
  try {
    await getContainerRuntimeClient()
    return true
  } catch {
    return false
  }
}
