import { table } from '../report/markdown'
import type { WatchResults } from './results'

interface Row {
  readonly figure: string
  /** Panel and line of the dashboard. */
  readonly panel: string
  readonly line: string
  readonly digits: number
}
const ROWS: readonly Row[] = [
  {
    figure: 'wait of `report`, p99, in s',
    panel: 'Waits of those that acquired',
    line: 'report p99',
    digits: 2,
  },
  { figure: 'calls that wait for `report`', panel: 'Calls that wait now', line: 'report', digits: 0 },
  { figure: 'calls that wait for `order`', panel: 'Calls that wait now', line: 'order', digits: 0 },
  { figure: '`report` held', panel: 'Locks that are held now', line: 'report', digits: 0 },
  { figure: 'locks of `order` held', panel: 'Locks that are held now', line: 'order', digits: 0 },
  { figure: 'calls that acquire, a second', panel: 'Calls by outcome', line: 'acquired', digits: 0 },
  { figure: 'calls not in time, a second', panel: 'Calls by outcome', line: 'timeout', digits: 1 },
  { figure: 'calls with an error, a second', panel: 'Calls by outcome', line: 'error', digits: 1 },
  { figure: 'lost locks so far', panel: 'Lost locks', line: 'gone', digits: 0 },
]
/** Rates look back this many seconds: right after a fault begins they still have what was before. */
const RATES = 5

/** The figures of the run as a table: the least and the most of each phase. */
export function figuresOf(results: WatchResults): string {
  const [slow, lost, dead] = results.plants
  const phases = [
    ['before', { from: 0, to: slow!.from }],
    ['slow holder', { from: slow!.from + RATES, to: slow!.to }],
    ['after the lost lock', { from: lost!.to + RATES, to: dead!.from }],
    ['dead server', { from: dead!.from + RATES, to: dead!.to }],
  ] as const
  const range = ({ panel, line, digits }: Row, { from, to }: { from: number; to: number }) => {
    const all = results.panels[panel]?.find(({ title }) => title === line)?.values ?? []
    const values = all.filter(
      (value, at) => value !== null && at * results.step >= from && at * results.step <= to,
    ) as number[]
    if (values.length === 0) return '–'
    const [least, most] = [Math.min(...values).toFixed(digits), Math.max(...values).toFixed(digits)]
    return least === most ? least : `${least}–${most}`
  }
  return [
    table([
      ['figure', ...phases.map(([title]) => title)],
      ...ROWS.map((row) => [row.figure, ...phases.map(([, phase]) => range(row, phase))]),
    ]),
    '',
    `The least and the most of each phase; – is no value. Command: \`${results.command}\`.`,
  ].join('\n')
}
