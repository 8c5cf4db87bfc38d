import { Random, shuffled } from '../../test/kit/random'
import type { BenchOptions } from '../options'
import type { Arm, Measured, Scenario } from '../scenarios/scenario'
import { describeMachine, type Machine, versions } from './machine'
import type { Measuring } from './measuring'
import { Places } from './places'
import type { Workers } from './programs'
import { WorkerTimeout } from './worker-process'

export interface Measurement extends Measured {
  readonly scenario: string
  /** The name of the arm. */
  readonly subject: string
  /** From 1. */
  readonly round: number
}

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

/** Always the same, so that a run can be repeated in the order it had. */
const SEED = 20_261_121

/** So many warm up in the time that is said. */
const FEW_PROCESSES = 4

export async function runBench(
  options: BenchOptions,
  workers: Workers,
  command: string,
  onProgress: (text: string) => void,
): Promise<BenchRun> {
  const { subjects, rounds, seconds, warmupSeconds, quick } = options
  const machine = describeMachine()
  const places = new Places()
  try {
    const single = await places.single()
    const { cluster, several } = places
    const measuring: Measuring = {
      ...{ single, cluster, several, quick },
      command: ({ runsOn }) => workers[runsOn]!,
      measureMs: seconds * 1_000,
      warmupMs: ({ runsOn }, processes = 1) =>
        warmupSeconds[runsOn] * 1_000 * Math.max(1, processes / FEW_PROCESSES),
    }
    const measurements: Measurement[] = []
    const steps = stepsOf(options, workers)
    for (const [done, { round, scenario, arm }] of steps.entries()) {
      onProgress(`${done + 1} of ${steps.length}: round ${round}, ${scenario.name}, ${arm.name}`)
      const measured = await arm.measure(measuring).catch(failed)
      measurements.push({ scenario: scenario.name, subject: arm.name, round, ...measured })
    }
    const date = new Date().toISOString()
    const used = await versions(single.servers[0]!, subjects, workers.java)
    return { command, date, machine, versions: used, rounds, seconds, measurements }
  } finally {
    await places.close()
  }
}

interface Step {
  readonly round: number
  readonly scenario: Scenario
  readonly arm: Arm
}

/**
 * The arms one after another within a scenario, so that what the machine does meanwhile hits all alike. Both are
 * shuffled anew each round, so that no arm always follows the same neighbour.
 */
function stepsOf({ scenarios, subjects, rounds, quick }: BenchOptions, workers: Workers): Step[] {
  const random = new Random(SEED)
  return Array.from({ length: rounds }, (_, index) => index + 1).flatMap((round) =>
    shuffled(
      scenarios.filter(({ mostRounds }) => round <= (mostRounds?.[quick ? 'quick' : 'full'] ?? rounds)),
      random,
    ).flatMap((scenario) => {
      const arms = scenario.arms(subjects, quick).filter(({ runsOn }) => workers[runsOn])
      return shuffled(arms, random).map((arm) => ({ round, scenario, arm }))
    }),
  )
}

/** An arm that cannot be measured is a finding, no reason to lose the others' figures. */
function failed(error: Error): Measured {
  const kind = error instanceof WorkerTimeout ? 'hangs' : 'failed'
  return { figures: {}, troubles: [{ kind, text: error.message }] }
}
