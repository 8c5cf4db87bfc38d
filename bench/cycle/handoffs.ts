import { type Handoffs, measureHandoff } from '../driver/handoff'
import type { Measuring } from '../driver/measuring'
import { Places } from '../driver/places'
import { type Spread, spreadOf } from '../driver/statistics'
import type { Command } from '../driver/worker-process'
import { SUBJECTS, type Subject } from '../subjects/catalogue'

const FULL = { rounds: 5, warmupMs: 1_000, measureMs: 3_000 }
/** As in the scenario of that name: long enough that the next caller sleeps. */
const HOLD_MS = 20

/** Nothing to compare locks with, but what any of them could do at most by messages. */
const MESSAGE_LIMIT: Subject = {
  name: 'message-limit',
  title: 'a call that publishes, and a call when the message has come, by ioredis; locks nothing',
  kind: 'limit',
  runsOn: 'node',
  notes: [],
}
const RLOCK = SUBJECTS.find(({ kind }) => kind === 'this')!

export interface HandoffRow {
  readonly title: string
  readonly p50Ms: Spread
  readonly roundTrips: Spread
  /** Of the first row. */
  readonly ofLimit: Spread
}

/** From the release of one process to the other inside, in turns. */
export async function measureHandoffs(
  worker: Command,
  onProgress: (text: string) => void,
  { rounds: count, warmupMs, measureMs } = FULL,
): Promise<HandoffRow[]> {
  const places = new Places()
  try {
    const measuring: Measuring = {
      single: await places.single(),
      cluster: () => places.cluster(),
      command: () => worker,
      subjectNamed: () => undefined,
      measureMs,
      warmupMs: () => warmupMs,
      quick: false,
    }
    const rounds: (readonly [Handoffs, Handoffs])[] = []
    for (let round = 1; round <= count; round++) {
      onProgress(`handoff: round ${round} of ${count}`)
      rounds.push([await measure(MESSAGE_LIMIT, measuring), await measure(RLOCK, measuring)])
    }
    const titles = [MESSAGE_LIMIT.title, 'a lock: `hold.unlock()`, `acquire()`']
    return titles.map((title, index) => {
      const own = rounds.map((round) => round[index]!)
      return {
        title,
        p50Ms: spreadOf(own.map(({ both }) => both.p50))!,
        roundTrips: spreadOf(own.map(({ both, roundTripMs }) => both.p50 / roundTripMs))!,
        ofLimit: spreadOf(own.map(({ both }, round) => both.p50 / rounds[round]![0].both.p50))!,
      }
    })
  } finally {
    await places.close()
  }
}

const measure = (subject: Subject, measuring: Measuring) =>
  measureHandoff(subject, subject, { holdMs: HOLD_MS, jitterMs: 0 }, measuring)
