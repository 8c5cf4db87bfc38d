import { Redis } from 'ioredis'
import { startStandalone } from '../../test/servers'
import type { BenchOptions } from '../options'
import type { Subject } from '../subjects/catalogue'
import { describeMachine, type Machine, versions } from './machine'
import type { Measuring } from './measuring'
import { type Measurement, measureRounds } from './rounds'

/** A run and all it found: what the JSON holds, and tables and charts are made of. */
export interface BenchRun {
  readonly command: string
  readonly date: string
  readonly machine: Machine
  readonly versions: Readonly<Record<string, string>>
  readonly rounds: number
  readonly seconds: number
  readonly measurements: readonly Measurement[]
}

/** What the just-in-time compiler of Node needs to know the loop by. */
const WARM_UP = 700

export async function runBench(
  options: Pick<BenchOptions, 'scenarios' | 'subjects' | 'rounds' | 'seconds'>,
  worker: string,
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
      command: () => ({ program: process.execPath, args: [worker] }),
      measureMs: options.seconds * 1_000,
      warmupMs: (_: Subject) => WARM_UP,
    }
    return {
      command,
      date: new Date().toISOString(),
      machine,
      versions: await versions(redis, options.subjects),
      rounds: options.rounds,
      seconds: options.seconds,
      measurements: await measureRounds(options, measuring, onProgress),
    }
  } finally {
    redis.disconnect()
    await server.stop()
  }
}
