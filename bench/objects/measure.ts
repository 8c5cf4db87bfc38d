import { Random, shuffled } from '../../test/kit/random'
import { describeMachine, versions } from '../driver/machine'
import { Places } from '../driver/places'
import type { Workers } from '../driver/programs'
import { failed } from '../driver/rounds'
import type { Group, ObjectsMeasuring } from './groups/group'
import type { ObjectsOptions } from './options'
import type { ArmMeasurement, GroupResults, ObjectsResults } from './results'
import { MemberServers } from './servers'

/** Always the same, so that a run can be repeated in the order it had. */
const SEED = 20_261_122

/** So many warm up in the time that is said. */
const FEW_PROCESSES = 4

const FULL = { seconds: 1.5, warmup: { node: 1, java: 5 } }
const QUICK = { seconds: 0.5, warmup: { node: 0.4, java: 2 } }

export async function measureGroups(
  options: ObjectsOptions,
  workers: Workers,
  command: string,
  onProgress: (text: string) => void,
): Promise<ObjectsResults> {
  const places = new Places()
  const members = new MemberServers()
  const { seconds, warmup } = options.quick ? QUICK : FULL
  try {
    const single = await places.single()
    const measuring: ObjectsMeasuring = {
      single,
      several: (count) => members.several(count),
      command: ({ runsOn }) => workers[runsOn]!,
      measureMs: seconds * 1_000,
      warmupMs: ({ runsOn }, processes = 1) =>
        warmup[runsOn] * 1_000 * Math.max(1, processes / FEW_PROCESSES),
      quick: options.quick,
    }
    const results: Record<string, GroupResults> = {}
    for (const group of options.groups) {
      const arms = group.arms.filter(({ subject }) => workers[subject.runsOn])
      const subjects = [...new Set(arms.map(({ subject }) => subject))]
      const rounds = options.rounds ?? group.rounds
      results[group.name] = {
        command,
        date: new Date().toISOString(),
        machine: describeMachine(),
        versions: await versions(single.servers[0]!, subjects, workers.java),
        rounds,
        seconds,
        measurements: await measureRounds({ ...group, arms, rounds }, measuring, onProgress),
      }
    }
    return results
  } finally {
    await members.close()
    await places.close()
  }
}

/** The arms of a group one after another, in another order each round: what slows the machine hits all alike. */
async function measureRounds(
  { name, rounds, arms }: Group,
  measuring: ObjectsMeasuring,
  onProgress: (text: string) => void,
): Promise<ArmMeasurement[]> {
  const random = new Random(SEED)
  const measurements: ArmMeasurement[] = []
  for (let round = 1; round <= rounds; round++)
    for (const arm of shuffled(arms, random)) {
      onProgress(`${name}, round ${round} of ${rounds}: ${arm.name}`)
      const measured = await arm.measure(measuring).catch(failed)
      measurements.push({ arm: arm.name, round, ...measured })
    }
  return measurements
}
