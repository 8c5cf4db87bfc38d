import { fillRegions } from '../../test/kit/docs/regions'
import type { BenchRun } from '../driver/bench-run'
import { compareTable, othersTable } from './compare'
import { targetTable } from './tables'
import { type Judged, judge } from './targets'

export function fillDocument(run: BenchRun, file: string): void {
  fillRegions(file, 'bench', (name) => CONTENTS[name]?.(run))
}

/** By the names of the regions in the page. */
export const CONTENTS: Readonly<Record<string, (run: BenchRun) => string | undefined>> = {
  run: aboutRun,
  compare: compareTable,
  others: othersTable,
  targets(run) {
    // The shares of far processes stand in the page about fairness; commands have no room on the page.
    const isOnThePage = ({ target: { scenario, what } }: Judged) =>
      scenario !== 'far-process' && what !== 'client commands'
    const judged = judge(run).filter((one) => one.spread && isOnThePage(one))
    return judged.length > 0 ? targetTable(judged) : undefined
  },
}

/** The page is of this version, and all subjects use the same ioredis. */
const NOT_SHOWN = ['rlock', "the peers' ioredis", 'JVM']

function aboutRun({ command, date, machine, versions, rounds, seconds }: BenchRun): string {
  const { cpu, cores, memoryGb, kernel, load } = machine
  const shown = Object.entries(versions).filter(([name]) => !NOT_SHOWN.includes(name))
  return (
    `\`${command}\`, ${date.slice(0, 10)}; ${cpu}, ${cores} cores, ${memoryGb} GB, Linux ${kernel}, load before ${load}; ` +
    `up to ${rounds} rounds, windows of ${seconds} s; ${shown.map(([name, version]) => `${name} ${version}`).join(', ')}.`
  )
}
