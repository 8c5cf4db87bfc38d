import type { Machine } from '../driver/machine'
import { table } from '../report/markdown'
import { PARTS, type Part, type Row } from './parts'

interface Results {
  readonly command: string
  readonly date: string
  readonly machine: Machine
  readonly versions: Readonly<Record<string, string>>
  readonly rows: readonly Row[]
}

/** What npm run bench:capacity keeps. */
export type CapacityResults = { readonly [name in Part['name']]?: Results }

/** Of `Redisson.create` by default: each lock is renewed every ten seconds, and a hundred by one command. */
const RENEWED_BY_ONE_COMMAND_A_SECOND = 10 * 100

/** `68,303` */
const count = (value: number) => Math.round(value).toLocaleString('en-US')
/** For sentences: two digits are what such a figure is worth. `68,000` */
const about = (value: number) => Number(value.toPrecision(2)).toLocaleString('en-US')

/** By the names that the page asks for; undefined where nothing was measured. */
export const CONTENTS: Readonly<Record<string, (results: CapacityResults) => string | undefined>> = {
  'capacity-in-short'(results) {
    const sentences = [
      ...cores(results['own-locks']?.rows ?? []),
      ...hotLock(results['one-lock']?.rows ?? []),
      ...(results.waiters?.rows ?? []).map(waiters),
      ...(results.million?.rows ?? []).map(held),
    ]
    return sentences.length === 0 ? undefined : [...sentences, '', aboutRun(results)].join('\n')
  },
  'capacity-own-locks': (results) =>
    tableOf(
      ['processes × callers', 'sections/s', 'a core of the server', 'a core of the clients'],
      results['own-locks'],
      ({ processes, callers, sectionsPerSecond, serverCpu, clientCpu }) => [
        `${processes} × ${callers}`,
        ...[sectionsPerSecond!, sectionsPerSecond! / serverCpu!, sectionsPerSecond! / clientCpu!].map(count),
      ],
    ),
  'capacity-one-lock': (results) =>
    tableOf(
      ['processes × callers', 'section, ms', 'sections/s', 'commands/s', 'messages sent out/s'],
      results['one-lock'],
      ({
        processes,
        callers,
        holdMs,
        sectionsPerSecond,
        commandsPerSection,
        messagesPerSecond,
        listeners,
      }) => [
        `${processes} × ${callers}`,
        String(holdMs),
        count(sectionsPerSecond!),
        count(sectionsPerSecond! * commandsPerSection!),
        count(messagesPerSecond! * listeners!),
      ],
    ),
}

function tableOf(
  head: string[],
  part: Results | undefined,
  cells: (row: Row) => string[],
): string | undefined {
  return part && table([head, ...part.rows.map(cells)])
}

/** What a core does in the load that makes the most of it, and in that of many processes with one caller each. */
function cores(rows: readonly Row[]): string[] {
  const alone = rows.find(({ processes, callers }) => processes === 8 && callers === 1)
  if (!alone) return []
  const [server, client] = ['serverCpu', 'clientCpu'].map((side) => {
    const rate = (row: Row) => row.sectionsPerSecond! / row[side]!
    return `${about(rate(alone))} to ${about(Math.max(...rows.map(rate)))}`
  })
  return [
    `- **A core of Redis** does ${server} sections (lock and unlock) a second: the ` +
      'less where many processes send one command at a time, the more where busy clients send many.',
    `- **A core of Node** does ${client}, likewise.`,
  ]
}

function hotLock(rows: readonly Row[]): string[] {
  if (rows.length === 0) return []
  const rate = (wanted: number, ms: number) => {
    const row = rows.find(
      ({ processes, callers, holdMs }) => processes === wanted && callers! > 1 && holdMs === ms,
    )
    return about(row?.sectionsPerSecond ?? Number.NaN)
  }
  return [
    `- **One hot lock** passes on ${rate(1, 0)} times a second within a process and ${rate(8, 0)} times ` +
      `among 8 processes, where the sections are empty; with sections of 5 ms, ${rate(1, 5)} and ` +
      `${rate(8, 5)} times. No cluster makes that more: it is one key.`,
  ]
}

function waiters({ waiters: all, processes, commandsPerSecond, heapPerWaiter }: Row): string {
  return (
    `- **${about(all!)} idle waiters** in ${processes} processes cost ${commandsPerSecond!.toFixed(1)} commands a ` +
    `second in all and ${(heapPerWaiter! / 1_000).toFixed(1)} kB of heap each.`
  )
}

function held(row: Row): string {
  const { locks, commandsPerSecond, clientCpu, serverCpu, heapPerLock, serverBytesPerLock } = row
  return (
    `- **${count(locks!)} held locks** in one process take ${about(locks! / RENEWED_BY_ONE_COMMAND_A_SECOND)} commands ` +
    `a second for renewal as modelled, ${about(commandsPerSecond!)} as measured, ` +
    `${clientCpu!.toFixed(2)} of a core there and ${serverCpu!.toFixed(2)} of one at the server, ` +
    `${(heapPerLock! / 1_000).toFixed(1)} kB of heap and ${about(serverBytesPerLock!)} bytes of Redis each.`
  )
}

/** When and where it was measured: a sentence for each run. */
function aboutRun(results: CapacityResults): string {
  const sentences = PARTS.flatMap(({ name }) => {
    const part = results[name]
    if (!part) return []
    const { command, date, machine, versions } = part
    return [
      `\`${command}\`, ${date.slice(0, 10)}; ${machine.cpu}, ${machine.cores} cores, node ${versions.node}, server ${versions.server}.`,
    ]
  })
  return [...new Set(sentences)].join(' ')
}
