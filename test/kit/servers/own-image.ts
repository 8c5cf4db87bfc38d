import { execFileSync, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { ContainerRuntimeClient } from 'testcontainers'

const NAME = 'rlock-test-redis'
/** What a container machine asks of an image beside the server. */
const TOOLS = ['sh', 'mkdir', 'rm', 'nohup', 'sleep', 'tail']

/**
 * Makes an image of this machine's own server, so that an engine needs no registry (and no reaper from one): the binary, a shell, a few tools and
 * the libraries that they load. Only Linux can: elsewhere the binary does not run in a container.
 */
export async function ownImage({ container }: ContainerRuntimeClient, server: string): Promise<string> {
  // The reaper would be an image from a registry.
  process.env.TESTCONTAINERS_RYUK_DISABLED ??= 'true'
  const { dockerode } = container
  const tag = createHash('sha256').update(readFileSync(server)).digest('hex').slice(0, 12)
  const name = `${NAME}:${tag}`
  const isThere = await dockerode
    .getImage(name)
    .inspect()
    .then(
      () => true,
      () => false,
    )
  if (isThere) return name

  const root = mkdtempSync(join(tmpdir(), 'rlock-image-'))
  try {
    for (const [from, to] of filesOf(server)) {
      mkdirSync(join(root, dirname(to)), { recursive: true })
      copyFileSync(from, join(root, to))
    }
    mkdirSync(join(root, 'tmp'))
    const tar = spawn('tar', ['-c', '-C', root, '.'], { stdio: ['ignore', 'pipe', 'inherit'] })
    tar.on('error', (failure) => tar.stdout.destroy(failure))
    const progress = await dockerode.importImage(tar.stdout, { repo: NAME, tag })
    await new Promise<void>((resolve, reject) =>
      dockerode.modem.followProgress(progress, (failure) => (failure ? reject(failure) : resolve())),
    )
  } catch (cause) {
    throw new Error(
      `A container engine answers, but it cannot import an image of ${server}: ${(cause as Error).message}. ` +
        'RLOCK_TEST_REDIS_IMAGE names an image that it has; without an engine the tests use the server of this machine.',
      { cause },
    )
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
  return name
}

/** Where each file is here, and where in the image. */
function filesOf(server: string): Map<string, string> {
  const programs = new Map([[server, '/bin/redis-server']])
  for (const tool of TOOLS) programs.set(text('sh', ['-c', `command -v ${tool}`]).trim(), `/bin/${tool}`)
  const libraries = [...programs.keys()]
    .flatMap((program) => text('ldd', [program]).split('\n'))
    .flatMap((line) => /(\/\S+) \(0x/.exec(line)?.[1] ?? [])
  return new Map([...programs, ...libraries.map((library) => [library, library] as const)])
}

const text = (program: string, args: readonly string[]): string =>
  execFileSync(program, args, { encoding: 'utf8' })
