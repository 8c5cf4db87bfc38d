import { table } from '../../report/markdown'
import { PARTS } from '../parts'
import type { CapacityResults } from '../results'

/** When and where each part was measured. */
export function aboutRun(results: CapacityResults): string {
  const parts = PARTS.flatMap(({ name, key }) => {
    const part = results[key]
    return part ? [{ name, ...part }] : []
  })
  if (parts.length === 0) return ''
  const rows = parts.map(({ name, command, date, machine }) => [
    name,
    `\`${command}\``,
    date.slice(0, 16).replace('T', ' '),
    machine.load.toFixed(2),
  ])
  const places = parts.map(({ machine: { cpu, cores, memoryGb, kernel }, versions }) => {
    const software = Object.entries(versions).map(([name, version]) => `${name} ${version}`)
    return `${cpu}, ${cores} cores, ${memoryGb} GB, Linux ${kernel}; ${software.join(', ')}.`
  })
  return [table([['part', 'command', 'when (UTC)', 'load before'], ...rows]), '', ...new Set(places)].join(
    '\n',
  )
}
