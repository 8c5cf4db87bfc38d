import { spreadOf } from '../../driver/statistics'
import { COLUMNS } from '../../report/columns'
import { shown, table } from '../../report/markdown'
import type { Group } from '../groups/group'
import type { ArmMeasurement, GroupResults } from '../results'

/** A row for each arm, and below it what has to be said of some. */
export function groupTable({ arms, columns }: Group, { measurements }: GroupResults): string {
  const measured = arms.flatMap((arm) => {
    const rounds = measurements.filter((one) => one.arm === arm.name)
    return rounds.length > 0 ? [{ title: arm.title, rounds }] : []
  })
  const heads = ['', ...columns.map((column) => COLUMNS[column]!.title)]
  const rows = measured.map(({ title, rounds }) => [title, ...columns.map((column) => cell(rounds, column))])
  const troubles = measured.flatMap(({ title, rounds }) => remarks(title, rounds))
  return [table([heads, ...rows]), ...(troubles.length > 0 ? ['', ...troubles] : [])].join('\n')
}

function cell(rounds: readonly ArmMeasurement[], column: string): string {
  const values = rounds.map(({ figures }) => figures[column])
  // JSON knows no NaN: such a figure comes back as null.
  const spread = spreadOf(values.filter((value): value is number => Number.isFinite(value)))
  return spread ? shown(spread, COLUMNS[column]!.digits) : '–'
}

/** One for each kind of trouble. */
function remarks(title: string, rounds: readonly ArmMeasurement[]): string[] {
  const kinds = new Set(rounds.flatMap(({ troubles }) => troubles.map(({ kind }) => kind)))
  return [...kinds].map((kind) => {
    const having = rounds.flatMap(({ troubles }) => troubles.filter((trouble) => trouble.kind === kind))
    return `- ${title}: ${kind}: ${having[0]!.text} (in ${having.length} of ${rounds.length} rounds)`
  })
}
