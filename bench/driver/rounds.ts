import { Random, shuffled } from '../../test/kit/random'
import type { Measured, Scenario } from '../scenarios/scenario'
import type { Subject } from '../subjects/catalogue'
import type { Measuring } from './measuring'
import { WorkerTimeout } from './worker-process'

export interface Measurement extends Measured {
  readonly scenario: string
  readonly subject: string
  /** From 1. */
  readonly round: number
}

export interface Plan {
  readonly scenarios: readonly Scenario[]
  readonly subjects: readonly Subject[]
  readonly rounds: number
}

/** Every subject does every scenario in every round. */
export async function measureRounds(
  plan: Plan,
  measuring: Measuring,
  onProgress: (text: string) => void,
): Promise<Measurement[]> {
  const measurements: Measurement[] = []
  const steps = stepsOf(plan, measuring.quick)
  for (const [done, { round, scenario, subject }] of steps.entries()) {
    onProgress(`${done + 1} of ${steps.length}: round ${round}, ${scenario.name}, ${subject.name}`)
    const measured = await scenario.measure(subject, measuring).catch(failed)
    measurements.push({ scenario: scenario.name, subject: subject.name, round, ...measured })
  }
  return measurements
}

interface Step {
  readonly round: number
  readonly scenario: Scenario
  readonly subject: Subject
}

/** Always the same, so that a run can be repeated in the order it had. */
const SEED = 20_261_121

/**
 * The subjects one after another within a scenario, so that what the machine does meanwhile hits all alike. Both are
 * shuffled anew each round, so that no subject always follows the same neighbour.
 */
function stepsOf({ scenarios, subjects, rounds }: Plan, quick: boolean): Step[] {
  const random = new Random(SEED)
  return Array.from({ length: rounds }, (_, index) => index + 1).flatMap((round) =>
    shuffled(
      scenarios.filter(({ mostRounds }) => round <= (mostRounds?.[quick ? 'quick' : 'full'] ?? rounds)),
      random,
    ).flatMap((scenario) => {
      const taking = subjects.filter((subject) => scenario.takesPart(subject, quick))
      return shuffled(taking, random).map((subject) => ({ round, scenario, subject }))
    }),
  )
}

/** A subject that cannot be measured is a finding, no reason to lose the others' figures. */
export function failed(error: Error): Measured {
  const kind = error instanceof WorkerTimeout ? 'hangs' : 'failed'
  return { figures: {}, troubles: [{ kind, text: error.message }] }
}
