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

/**
 * Every round has every subject do every scenario once, each time in another order: what the machine does
 * meanwhile hits all alike, and nobody always follows the same neighbour.
 */
export async function measureRounds(
  { scenarios, subjects, rounds }: Plan,
  measuring: Measuring,
  onProgress: (text: string) => void,
): Promise<Measurement[]> {
  const measurements: Measurement[] = []
  for (let round = 1; round <= rounds; round++) {
    for (const scenario of scenarios) {
      if (round > (scenario.mostRounds ?? rounds)) continue
      const taking = rotated(
        subjects.filter((subject) => scenario.takesPart(subject)),
        round - 1,
      )
      for (const subject of taking) {
        onProgress(`round ${round} of ${rounds}, ${scenario.name}: ${subject.name}`)
        const measured = await scenario.measure(subject, measuring).catch(failed)
        measurements.push({ scenario: scenario.name, subject: subject.name, round, ...measured })
      }
    }
  }
  return measurements
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
