import { MUTANTS, type MutantName } from '../worker/mutants'
import type { Figures } from './markdown'
import { count, markdownTable } from './markdown'
import { table } from './table'

/** Of each kind of violation so many are reported. */
const MOST_REPORTED = 5

/** All that is to be said of some runs, in Markdown. */
export function section(runs: readonly Figures[]): string {
  const sound = runs.filter(({ mutant }) => !mutant)
  const mutants = runs.filter(({ mutant }) => mutant)
  const parts = [
    ...(sound.length > 0
      ? [runsTable(sound), table(sound), ...judgedTable(sound), notes(sound), ...violations(sound)]
      : []),
    ...(mutants.length > 0 ? [mutantsTable(mutants)] : []),
  ]
  return parts.join('\n\n')
}

function runsTable(runs: readonly Figures[]): string {
  const head = ['servers', 'minutes', 'seed', 'faults', 'sections', 'of them by Java', 'least share, Node']
  const row = (name: string, seed: string, of: readonly Figures[]) => [
    name,
    count(sum(of.map(({ minutes }) => minutes))),
    seed,
    ...[of.map(({ faults }) => faults), of.map(({ sections }) => sections)].map((each) => count(sum(each))),
    count(sum(of.map(({ sectionsByJava }) => sectionsByJava))),
    ...['node', 'java'].map((language) => leastShare(of, language)),
    count(sum(of.map(({ violations }) => violations.length))),
  ]
  return markdownTable([
    [...head, 'least share, Java', 'violations'],
    ...runs.map((run) => row(run.topology, String(run.seed), [run])),
    ...(runs.length > 1 ? [row('**all**', '', runs)] : []),
  ])
}

/** Of what was due to a process of a lock, over the worst of its windows. */
function leastShare(runs: readonly Figures[], language: string): string {
  const shares = runs.flatMap(({ leastShares = {} }) =>
    Object.entries(leastShares).flatMap(([whose, share]) => (whose.endsWith(` ${language}`) ? share : [])),
  )
  return shares.length === 0 ? '–' : `${Math.round(100 * Math.min(...shares))} %`
}

/** What took part besides the locks, and how much of it was judged that no section shows. */
function judgedTable(runs: readonly Figures[]): string[] {
  const took = new Set(runs.flatMap(({ objects = ['locks'] }) => objects))
  if (took.size === 1 && took.has('locks')) return []
  const times = new Map<string, number>()
  for (const { object, what, times: each } of runs.flatMap(({ judged = [] }) => judged)) {
    const key = `${object}|${what}`
    times.set(key, (times.get(key) ?? 0) + each)
  }
  const rows = [...times].map(([key, each]) => [...key.split('|'), count(each)])
  const judged =
    rows.length > 0 ? [markdownTable([['object', 'judged besides', 'times'], ...rows], ['object'])] : []
  return [`Took part: ${[...took].join(', ')}.`, ...judged]
}

function notes(runs: readonly Figures[]): string {
  const machines = new Set(
    runs.map(({ machine }) =>
      machine
        ? `${machine.cores} cores for servers, workers, proxies and the judge, Node ${machine.node}, Redis ${machine.redis}` +
          `${machine.redisson ? `, Java Redisson ${machine.redisson}` : ''}`
        : 'not recorded',
    ),
  )
  const loads = runs.flatMap(({ machine }) => machine?.loads ?? [])
  const busy = loads.length === 0 ? '' : `; load ${Math.min(...loads)} to ${Math.max(...loads)}`
  return [
    `Machine: ${[...machines].join('; ')}${busy}.`,
    `Java holds that were counted twice: ${count(sum(runs.map((run) => run.doubleCountsOfJava.length)))}.`,
    ...runs.flatMap(({ failedFaults }) => failedFaults.map((failed) => `Not injected: ${failed.trim()}`)),
  ].join('\n')
}

function violations(runs: readonly Figures[]): string[] {
  const reported = new Map<string, number>()
  const lines = runs.flatMap(({ topology, violations: all }) =>
    all.flatMap(({ kind, fault, what }) => {
      reported.set(kind, (reported.get(kind) ?? 0) + 1)
      return reported.get(kind)! > MOST_REPORTED
        ? []
        : `- ${topology}, ${fault ?? 'none'}: **${kind}** ${what.split('\n')[0]}`
    }),
  )
  const rest = [...reported].filter(([, times]) => times > MOST_REPORTED)
  const more = rest.map(([kind, times]) => `- and ${count(times - MOST_REPORTED)} more of ${kind}`)
  return lines.length === 0 ? [] : [[...lines, ...more].join('\n')]
}

function mutantsTable(runs: readonly Figures[]): string {
  const row = ({ mutant, topology, violations: [first] }: Figures) => {
    const caught = first
      ? [first.kind, first.fault ?? 'none', `${(first.afterMs / 1000).toFixed(1)} s`]
      : ['**not caught**', '', '']
    return [mutant!, MUTANTS[mutant as MutantName], topology, ...caught]
  }
  const head = ['mutant', 'what is broken', 'topology', 'caught by', 'fault']
  return markdownTable([[...head, 'after'], ...runs.map(row)], head)
}

const sum = (figures: readonly number[]): number => figures.reduce((total, each) => total + each, 0)
