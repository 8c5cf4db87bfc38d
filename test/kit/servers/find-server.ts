import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import type { ContainerRuntimeClient } from 'testcontainers'
import { canInstallServer, installServer } from './install-server'
import { ownImage } from './own-image'

/** Something we can start servers from. */
export type Launcher =
  | { readonly kind: 'binary'; readonly path: string }
  | { readonly kind: 'container'; readonly image: string }

/** A server that already runs, and is not ours: tests use scratch names only and never stop it. */
export type RunningServer = { readonly kind: 'address'; readonly url: string }

const DEFAULT_IMAGE = 'redis:7-alpine'

export const WAYS_TO_A_SERVER = `  sudo apt-get install redis-server   on Debian and Ubuntu
  brew install redis                  on macOS
  docker info                         answers where a container engine runs: start it`

let launcher: Promise<Launcher> | undefined

/** The server for tests that share one: the address in RLOCK_TEST_REDIS_URL, else one we start. */
export async function findServer(): Promise<RunningServer | Launcher> {
  const url = process.env.RLOCK_TEST_REDIS_URL
  return url ? { kind: 'address', url } : findLauncher()
}

/** Starts servers from this launcher from now on; without one, as the environment says. */
export function launchFrom(chosen: Launcher | undefined): void {
  launcher = chosen && Promise.resolve(chosen)
}

/**
 * How to start servers in containers; nothing where no engine answers. The image is the one that RLOCK_TEST_REDIS_IMAGE
 * names, else one made of this machine's server, else that of Redis.
 */
export async function findContainers(): Promise<Launcher | undefined> {
  const engine = await containerEngine()
  if (!engine) return undefined
  const named = process.env.RLOCK_TEST_REDIS_IMAGE
  if (named) return { kind: 'container', image: named }
  const server = process.env.RLOCK_TEST_REDIS_SERVER || serverOnPath()
  const canBeImage = server && process.platform === 'linux'
  return { kind: 'container', image: canBeImage ? await ownImage(engine, server) : DEFAULT_IMAGE }
}

/** How to start servers of our own, for tests that stop, pause or configure them. Decided once a process. */
export function findLauncher(): Promise<Launcher> {
  launcher ??= decide()
  return launcher
}

/** Whether there is a server, or something to start one from, without an installation. */
export async function hasServer(): Promise<boolean> {
  return Boolean(process.env.RLOCK_TEST_REDIS_URL) || (await lookAround()) !== undefined
}

async function decide(): Promise<Launcher> {
  const found = await lookAround()
  if (found) return found
  if (canInstallServer()) {
    await installServer()
    const installed = serverOnPath()
    if (installed) return { kind: 'binary', path: installed }
  }
  throw new Error(
    `No Redis to test against. One of these helps:\n${WAYS_TO_A_SERVER}\nor set RLOCK_TEST_REDIS_URL (an address) or RLOCK_TEST_REDIS_SERVER (a binary)`,
  )
}

/** What this machine has; installs nothing. */
export async function lookAround(): Promise<Launcher | undefined> {
  const binary = process.env.RLOCK_TEST_REDIS_SERVER
  if (binary) {
    if (isExecutable(binary)) return { kind: 'binary', path: binary }
    throw new Error(`RLOCK_TEST_REDIS_SERVER names ${binary}, which is no executable file`)
  }

  // An image asked for by name is meant, even where a server is on the PATH.
  const image = process.env.RLOCK_TEST_REDIS_IMAGE
  if (image) {
    if (await containerEngine()) return { kind: 'container', image }
    throw new Error(`RLOCK_TEST_REDIS_IMAGE names ${image}, but no container engine answers`)
  }

  const onPath = serverOnPath()
  if (onPath) return { kind: 'binary', path: onPath }
  return findContainers()
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

async function containerEngine(): Promise<ContainerRuntimeClient | undefined> {
  // Loaded only when needed: it is large, and most machines have a server on the PATH.
  const { getContainerRuntimeClient } = await import('testcontainers')
  try {
    return await getContainerRuntimeClient()
  } catch {
    return undefined
  }
}
