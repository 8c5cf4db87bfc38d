import { cpus, loadavg } from 'node:os'
import type { Redis } from 'ioredis'
import { REDISSON_VERSIONS } from '../../../kit/java/index'
import { info } from '../../../kit/servers/with-client'

/** What a run was made on. */
export interface RunMachine {
  readonly cores: number
  readonly node: string
  readonly redis: string
  readonly redisson: string | undefined
  /** Of the last minute, at the beginning and at the end. */
  readonly loads: readonly number[]
}

const load = (): number => Number(loadavg()[0]!.toFixed(1))

/** To be called when the run begins; what it answers, when it ends. */
export async function watchMachine(server: Redis, java: boolean): Promise<() => RunMachine> {
  const redis = (await info(server, 'server')).get('redis_version') ?? 'unknown'
  const begun = load()
  return () => ({
    ...{ cores: cpus().length, node: process.versions.node, redis, loads: [begun, load()] },
    redisson: java ? REDISSON_VERSIONS.newest : undefined,
  })
}
