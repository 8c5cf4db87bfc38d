import { Redis } from 'ioredis'
import { startStandalone } from '../../test/servers'
import type { BenchOptions } from '../options'
import { describeMachine, type Machine, versions } from './machine'
import type { Measuring } from './measuring'
import type { Workers } from './programs'
import { type Measurement, measureRounds } from './rounds'

/** A run and all it found: what the JSON holds, and tables and charts are made of. */
export interface BenchRun {
  readonly command: string
  readonly date: string
  readonly machine: Machine
  readonly versions: Readonly<Record<string, string>>
  readonly rounds: number
  readonly seconds: number
  readonly warmupSeconds: BenchOptions['warmupSeconds']
  readonly measurements: readonly Measurement[]
}

export async function runBench(
  options: Pick<BenchOptions, 'scenarios' | 'subjects' | 'rounds' | 'seconds' | 'warmupSeconds'>,
  workers: Workers,
  command: string,
  onProgress: (text: string) => void,
): Promise<BenchRun> {
  const machine = describeMachine()
  const server = await startStandalone()
  const redis = new Redis(server.url, { replyMapping: 'legacy' })
  try {
    const measuring: Measuring = {
      url: server.url,
      redis,
      command: ({ runsOn }) => workers[runsOn]!,
      measureMs: options.seconds * 1_000,
      warmupMs: ({ runsOn }) => options.warmupSeconds[runsOn] * 1_000,
    }
    return {
      command,
      date: new Date().toISOString(),
      machine,
      versions: await versions(redis, options.subjects),
      rounds: options.rounds,
      seconds: options.seconds,
      warmupSeconds: options.warmupSeconds,
      measurements: await measureRounds(options, measuring, onProgress),
    }
  } finally {
    redis.disconnect()
    await server.stop()
  }
}
