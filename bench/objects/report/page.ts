import { shown, table } from '../../report/markdown'
import { GROUPS } from '../groups'
import type { ObjectsResults } from '../results'
import { TARGETS } from '../rows'
import { type JudgedTarget, judge, type ObjectTarget } from '../targets'
import { groupTable } from './figures'

const NOT_MEASURED = 'Not measured yet.'

/** What stands in a region of the page. */
export function contentOf(results: ObjectsResults, name: string): string {
  if (name === 'run') return aboutRun(results) || NOT_MEASURED
  if (name === 'locks' || name === 'synchronizers') return targetTable(results, name)
  const group = GROUPS.find((one) => one.name === name)
  if (!group) throw new Error(`the page asks for ${name}, which no group is called`)
  const measured = results[name]
  return measured ? groupTable(group, measured) : NOT_MEASURED
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

function targetTable(results: ObjectsResults, name: ObjectTarget['table']): string {
  const rows = TARGETS.filter((target) => target.table === name)
  return rowsOf(judge(rows, results))
}

function rowsOf(judged: readonly JudgedTarget[]): string {
  const rows = judged.map(({ target, spread, met }) => [
    target.object,
    target.what,
    limitOf(target),
    spread ? shown(spread, 2) : '–',
    verdict(target, met),
  ])
  return table([['', '', 'target', 'measured', ''], ...rows])
}

function limitOf({ atLeast, atMost }: ObjectTarget): string {
  if (atLeast !== undefined) return `≥ ${atLeast}`
  return atMost === undefined ? '–' : `≤ ${atMost}`
}

function verdict(target: ObjectTarget, met: boolean | undefined): string {
  if (met !== undefined) return met ? 'met' : 'MISSED'
  return limitOf(target) === '–' ? '' : 'not measured'
}

/** When and where each group was measured. */
function aboutRun(results: ObjectsResults): string {
  const measured = GROUPS.flatMap(({ name }) => (results[name] ? [{ name, ...results[name] }] : []))
  if (measured.length === 0) return ''
  const rows = measured.map(({ name, command, date, rounds, seconds, machine }) => [
    name,
    `\`${command}\``,
    date.slice(0, 16).replace('T', ' '),
    String(rounds),
    String(seconds),
    machine.load.toFixed(2),
  ])
  const heads = ['group', 'command', 'when (UTC)', 'rounds', 'window, s', 'load before']
  const machines = measured.map(
    ({ machine: { cpu, cores, memoryGb, kernel } }) =>
      `${cpu}, ${cores} cores, ${memoryGb} GB, Linux ${kernel}.`,
  )
  const versions = Object.assign({}, ...measured.map((one) => one.versions)) as Record<string, string>
  const software = Object.entries(versions).map(([name, version]) => `${name} ${version}`)
  return [table([heads, ...rows]), '', [...new Set(machines)].join(' '), `${software.join(', ')}.`].join('\n')
}
