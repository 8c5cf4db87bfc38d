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

/**
 * The subjects one after another within a scenario, and in another order each round: what the machine does
 * meanwhile hits all alike, and nobody always follows the same neighbour.
 */
function stepsOf({ scenarios, subjects, rounds }: Plan, quick: boolean): Step[] {
  return Array.from({ length: rounds }, (_, index) => index + 1).flatMap((round) =>
    scenarios
      .filter(({ mostRounds }) => round <= (mostRounds?.[quick ? 'quick' : 'full'] ?? rounds))
      .flatMap((scenario) => {
        const taking = subjects.filter((subject) => scenario.takesPart(subject, quick))
        return rotated(taking, round - 1).map((subject) => ({ round, scenario, subject }))
      }),
  )
}

/** A subject that cannot be measured is a finding, no reason to lose the others' figures. */
function failed(error: Error): Measured {
  const kind = error instanceof WorkerTimeout ? 'hangs' : 'failed'
  return { figures: {}, troubles: [{ kind, text: error.message }] }
}

function rotated<T>(items: readonly T[], by: number): T[] {
  const first = by % Math.max(1, items.length)
  return [...items.slice(first), ...items.slice(0, first)]
}
