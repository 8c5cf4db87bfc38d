import { shown, table } from '../../report/markdown'
import { GROUPS } from '../groups'
import type { ObjectsResults } from '../results'
import { TARGETS } from '../rows'
import { type JudgedTarget, judge, type ObjectTarget } from '../targets'
import { groupTable } from './figures'

const ON_THE_PAGE = TARGETS.filter(({ isDetail }) => !isDetail)
const NOT_MEASURED = 'Not measured yet.'

/** What stands in a region of the page; undefined for the regions of other programs. */
export function contentOf(results: ObjectsResults, name: string): string | undefined {
  if (name === 'objects-run') return aboutRun(results) || NOT_MEASURED
  return name === 'objects' ? rowsOf(judge(ON_THE_PAGE, results)) : undefined
}

/** The same for a terminal, of what was measured. */
export function screen(results: ObjectsResults): string {
  const groups = GROUPS.filter(({ name }) => results[name])
  const targets = TARGETS.filter(({ group }) => results[group])
  return [
    ...groups.map((group) => `${group.title}\n\n${groupTable(group, results[group.name]!)}`),
    `Targets\n\n${rowsOf(judge(targets, results))}`,
    aboutRun(results),
  ].join('\n\n')
}

function rowsOf(judged: readonly JudgedTarget[]): string {
  const rows = judged.map(({ target, spread, met }) => [
    `${target.object}: ${target.what}`,
    spread ? shown(spread, 2) : '–',
    `${limitOf(target)} ${verdict(target, met)}`.trim(),
  ])
  return table([['', 'measured', 'target'], ...rows])
}

function limitOf({ atLeast, atMost }: ObjectTarget): string {
  if (atLeast !== undefined) return `≥ ${atLeast}`
  return atMost === undefined ? '–' : `≤ ${atMost}`
}

function verdict(target: ObjectTarget, met: boolean | undefined): string {
  if (met !== undefined) return met ? 'met' : 'MISSED'
  return limitOf(target) === '–' ? '' : 'not measured'
}

/** When and where it was measured: a sentence for each run. */
function aboutRun(results: ObjectsResults): string {
  const sentences = GROUPS.flatMap(({ name }) => {
    const group = results[name]
    if (!group) return []
    const { command, date, machine } = group
    return [`\`${command}\`, ${date.slice(0, 10)}; ${machine.cpu}, ${machine.cores} cores.`]
  })
  return [...new Set(sentences)].join(' ')
}
