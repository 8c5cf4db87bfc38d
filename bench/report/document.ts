import type { BenchRun } from '../driver/bench-run'
import { SCENARIOS } from '../scenarios'
import { SUBJECTS } from '../subjects/catalogue'
import { table } from './markdown'
import { fillRegions } from './regions'
import { scenarioTable, targetTable } from './tables'
import { judge } from './targets'

export function fillDocument(run: BenchRun, file: string): void {
  fillRegions(file, (name) => contentOf(run, name))
}

function contentOf(run: BenchRun, name: string): string | undefined {
  if (name === 'run') return aboutRun(run)
  if (name === 'targets') return targets(run)
  if (name === 'subjects') return subjects(run)
  const scenario = SCENARIOS.find((one) => one.name === name)
  if (!scenario) throw new Error(`the document asks for ${name}, which no scenario is called`)
  if (!run.measurements.some((one) => one.scenario === name)) return undefined
  return `${scenario.title}:\n\n${scenarioTable(run, scenario)}`
}

function targets(run: BenchRun): string | undefined {
  const judged = judge(run)
  return judged.some(({ spread }) => spread) ? targetTable(judged) : undefined
}

function aboutRun({ command, date, machine, versions, rounds, seconds, warmupSeconds }: BenchRun): string {
  const { cpu, cores, memoryGb, kernel, load } = machine
  return [
    '```sh',
    command,
    '```',
    '',
    `${date.slice(0, 10)}; ${cpu}, ${cores} cores, ${memoryGb} GB, Linux ${kernel}, load before ${load}. ` +
      `Up to ${rounds} rounds, windows of ${seconds} s after a warm-up of ${warmupSeconds.node} s ` +
      `(Java: ${warmupSeconds.java} s). ${Object.entries(versions)
        .map(([name, version]) => `${name} ${version}`)
        .join(', ')}.`,
  ].join('\n')
}

function subjects({ versions }: BenchRun): string {
  const rows = SUBJECTS.map((subject) => [
    subject.title,
    (subject.package && versions[subject.package]) ?? versions[subject.name] ?? '',
    subject.notes.join('; '),
  ])
  return table([['', 'version', 'how it is used'], ...rows])
}
