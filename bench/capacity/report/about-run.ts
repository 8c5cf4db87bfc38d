import { PARTS } from '../parts'
import type { CapacityResults } from '../results'

/** When and where it was measured: a sentence for each run. */
export function aboutRun(results: CapacityResults): string {
  const sentences = PARTS.flatMap(({ key }) => {
    const part = results[key]
    if (!part) return []
    const { command, date, machine, versions } = part
    return [
      `\`${command}\`, ${date.slice(0, 10)}; ${machine.cpu}, ${machine.cores} cores, node ${versions.node}, server ${versions.server}.`,
    ]
  })
  return [...new Set(sentences)].join(' ')
}
