import { type CallersSetup, measureCallers } from '../driver/callers'
import type { Figures, Scenario, Trouble } from './scenario'

/** What each message to or from the second process takes more, in ms; through the proxy in any case. */
const DISTANCES = [0, 1, 5]
const QUICK_DISTANCES = [5]
const HOLD_MS = 5
/** A turn of both takes 30 ms at the greatest distance: a short window would see few of them. */
const LEAST_WINDOW_MS = 1_000

/** One caller each: a process that gets the lock at each first try never has to wait. */
export const farProcess: Scenario = {
  name: 'far-process',
  title:
    '2 processes of one caller on one lock, sections of 5 ms; of its fair share, what the least process gets where ' +
    'the second is 0, 1 and 5 ms farther away each way',
  columns: [
    ...DISTANCES.map((ms) => `leastShareAt${ms}`),
    ...DISTANCES.map((ms) => `leastWriterShareAt${ms}`),
    'sectionsPerSecondAt5',
  ],
  mostRounds: { quick: 1, full: 2 },
  takesPart: ({ name }, quick) => name === 'rlock' || (name === 'java' && !quick),
  async measure(subject, measuring) {
    const figures: Record<string, number> = {}
    const troubles: Trouble[] = []
    const measureMs = Math.max(measuring.measureMs, LEAST_WINDOW_MS)
    for (const farMs of measuring.quick ? QUICK_DISTANCES : DISTANCES)
      for (const reading of [undefined, { readers: 0, writers: 1 }]) {
        const setup: CallersSetup = { processes: 2, callers: 1, locks: 1, holdMs: HOLD_MS, farMs }
        const asked = reading ? { ...setup, reading } : setup
        const measured = await measureCallers(subject, asked, measuring.single, { ...measuring, measureMs })
        Object.assign(figures, reading ? ofWriters(measured.figures, farMs) : ofLock(measured.figures, farMs))
        troubles.push(...measured.troubles.map(({ kind, text }) => ({ kind, text: `${farMs} ms: ${text}` })))
      }
    return { figures, troubles }
  },
}

const ofLock = ({ leastProcessShare, sectionsPerSecond }: Figures, farMs: number) => ({
  [`leastShareAt${farMs}`]: leastProcessShare!,
  [`sectionsPerSecondAt${farMs}`]: sectionsPerSecond!,
})

const ofWriters = ({ leastProcessShare }: Figures, farMs: number) => ({
  [`leastWriterShareAt${farMs}`]: leastProcessShare!,
})
