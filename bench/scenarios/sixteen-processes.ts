import { measureCallers } from '../driver/callers'
import type { Figures, Scenario, Trouble } from './scenario'

const COUNTS = [1, 2, 4, 8, 16]
const QUICK_COUNTS = [1, 4, 16]

/** Sixteen virtual machines on a small machine start for longer than a quick run may take. */
const QUICK_JAVA_COUNTS = [1, 4]

/** One caller each, so that the next one is woken in another process. */
export const sixteenProcesses: Scenario = {
  name: 'sixteen-processes',
  title: '1 to 16 processes of one caller on one lock: client commands a section, and sections a second',
  columns: [...COUNTS.map((count) => `commandsAt${count}`), ...COUNTS.map((count) => `rateAt${count}`)],
  mostRounds: { quick: 1, full: 1 },
  takesPart: (subject, quick) => subject.kind !== 'limit' && !(quick && subject.resembles),
  async measure(subject, measuring) {
    const figures: Record<string, number> = {}
    const troubles: Trouble[] = []
    const quickCounts = subject.runsOn === 'java' ? QUICK_JAVA_COUNTS : QUICK_COUNTS
    for (const processes of measuring.quick ? quickCounts : COUNTS) {
      const setup = { processes, callers: 1, locks: 1 }
      const measured = await measureCallers(subject, setup, measuring.single, measuring)
      Object.assign(figures, atCount(measured.figures, processes))
      troubles.push(
        ...measured.troubles.map(({ kind, text }) => ({ kind, text: `${processes} processes: ${text}` })),
      )
    }
    return { figures, troubles }
  },
}

function atCount(figures: Figures, processes: number): Figures {
  return {
    [`commandsAt${processes}`]: figures.clientCommandsPerSection!,
    [`serverCommandsAt${processes}`]: figures.serverCommandsPerSection!,
    [`messagesAt${processes}`]: figures.messagesPerSection!,
    [`rateAt${processes}`]: figures.sectionsPerSecond!,
    [`waitP99TurnsAt${processes}`]: figures.waitP99Turns!,
  }
}
