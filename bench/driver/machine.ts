import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { cpus, loadavg, release, totalmem } from 'node:os'
import { join } from 'node:path'
import type { Redis } from 'ioredis'
import { info } from '../../test/kit/servers/with-client'
import type { Subject } from '../subjects/catalogue'
import type { JavaVersions } from './programs'

const BENCH = join(__dirname, '..')

export interface Machine {
  readonly cpu: string
  readonly cores: number
  readonly memoryGb: number
  readonly kernel: string
  /** Of the last minute, when the run began. */
  readonly load: number
}

export function describeMachine(): Machine {
  const all = cpus()
  return {
    cpu: all[0]?.model.trim() ?? 'unknown',
    cores: all.length,
    memoryGb: Math.round(totalmem() / 2 ** 30),
    // What follows the first dash tells who built it, not what it does.
    kernel: release().split('-')[0]!,
    load: Number(loadavg()[0]!.toFixed(2)),
  }
}

/** Of everything that is in the figures. */
export async function versions(
  redis: Redis,
  subjects: readonly Subject[],
  java: JavaVersions | undefined,
): Promise<Record<string, string>> {
  const server = await info(redis, 'server')
  const valkey = server.get('valkey_version')
  const packages = subjects.flatMap((subject) => (subject.package ? [subject.package] : []))
  return {
    node: process.version,
    server: valkey ? `Valkey ${valkey}` : `Redis ${server.get('redis_version')}`,
    "rlock's ioredis": versionOf('ioredis', join(BENCH, '..')),
    "the peers' ioredis": versionOf('ioredis', BENCH),
    ...(java && { java: java.redisson, JVM: java.jvm }),
    ...Object.fromEntries(packages.map((name) => [name, versionOf(name, BENCH)])),
  }
}

function versionOf(name: string, from: string): string {
  const require = createRequire(join(from, 'package.json'))
  const places =
    name === 'rlock' ? [join(BENCH, '..')] : require.resolve.paths(name)!.map((path) => join(path, name))
  const place = places.find((each) => existsSync(join(each, 'package.json')))
  return place ? String(require(join(place, 'package.json')).version) : 'not installed'
}
