import type { BenchOptions } from '../options'
import { describeMachine, type Machine, versions } from './machine'
import type { Measuring } from './measuring'
import { Places } from './places'
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

/** So many warm up in the time that is said. */
const FEW_PROCESSES = 4

export async function runBench(
  options: BenchOptions,
  workers: Workers,
  command: string,
  onProgress: (text: string) => void,
): Promise<BenchRun> {
  const machine = describeMachine()
  const places = new Places()
  try {
    const single = await places.single()
    const measuring: Measuring = {
      single,
      cluster: () => places.cluster(),
      command: ({ runsOn }) => workers[runsOn]!,
      subjectNamed: (wanted) => options.subjects.find(({ name }) => name === wanted),
      measureMs: options.seconds * 1_000,
      warmupMs: ({ runsOn }, processes = 1) =>
        options.warmupSeconds[runsOn] * 1_000 * Math.max(1, processes / FEW_PROCESSES),
      quick: options.quick,
    }
    return {
      command,
      date: new Date().toISOString(),
      machine,
      versions: await versions(single.servers[0]!, options.subjects, workers.java),
      rounds: options.rounds,
      seconds: options.seconds,
      warmupSeconds: options.warmupSeconds,
      measurements: await measureRounds(options, measuring, onProgress),
    }
  } finally {
    await places.close()
  }
}
