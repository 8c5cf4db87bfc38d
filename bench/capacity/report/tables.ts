import { table } from '../../report/markdown'
import {
  commandsPerSection,
  idleCommandsPerSecond,
  renewalCommandsPerSecond,
  sectionsPerCohort,
} from '../model'
import type { FullServerRow } from '../parts/full-server'
import type { HeldRow } from '../parts/held-locks'
import type { CohortBounds, OneLockRow } from '../parts/one-lock'
import type { OwnLocksRow } from '../parts/own-locks'
import type { WaitersRow } from '../parts/waiters'
import type { CapacityResults } from '../results'
import { count, perCore } from './numbers'

/** All that was measured. */
export function tables(results: CapacityResults): string {
  const { ownLocks, fullServer, oneLock, waiters } = results
  const held = heldRows(results)
  return [
    ...(ownLocks ? [ownLocksTable(ownLocks.rows)] : []),
    ...(fullServer ? [fullServerTable(fullServer.rows)] : []),
    ...(oneLock ? [oneLockTable(oneLock.rows), cohortsTable(oneLock.rows, oneLock.bounds)] : []),
    ...(waiters ? [waitersTable(waiters.rows)] : []),
    ...(held ? [heldTable(held), renewalTable(held)] : []),
  ].join('\n\n')
}

/** From the fewest locks to the most; undefined where none was measured. */
export function heldRows({ heldLocks, million }: CapacityResults): readonly HeldRow[] | undefined {
  const rows = [...(heldLocks?.rows ?? []), ...(million?.rows ?? [])]
  return rows.length > 0 ? rows : undefined
}

export function ownLocksTable(rows: readonly OwnLocksRow[]): string {
  const head = [...['processes × callers', 'sections/s', 'a core of the server', 'a core of the clients']]
  return table([
    head,
    ...rows.map((row) => {
      const { processes, callers, sectionsPerSecond: rate, serverCpu, clientCpu } = row
      return [
        `${processes} × ${callers}`,
        count(rate),
        count(perCore(rate, serverCpu)),
        count(perCore(rate, clientCpu)),
      ]
    }),
  ])
}

function fullServerTable(rows: readonly FullServerRow[]): string {
  const cells = rows.map((row) => [count(row.sectionsPerSecond), row.serverCpu.toFixed(2)])
  return table([['sections/s, in pipelines', 'server, cores'], ...cells])
}

export function oneLockTable(rows: readonly OneLockRow[]): string {
  const head = [...['processes × callers', 'section, ms', 'sections/s', 'commands/s', 'messages sent out/s']]
  return table([
    head,
    ...rows.map((row) => [
      `${row.processes} × ${row.callers}`,
      String(row.holdMs),
      count(row.sectionsPerSecond),
      count(row.sectionsPerSecond * row.commandsPerSection),
      count(row.messagesPerSecond * row.listeners),
    ]),
  ])
}

/** The model of contention beside what was measured. */
export function cohortsTable(rows: readonly OneLockRow[], bounds: CohortBounds): string {
  const head = [
    ...['processes × callers', 'section, ms', 'sections/cohort', 'model'],
    ...['commands/section', 'model', 'failed tries/cohort', 'messages/section', 'model'],
  ]
  return table([
    head,
    ...rows.map((row) => {
      const perCohort = sectionsPerCohort({ ...row, sectionMs: 1_000 / row.sectionsPerSecond }, bounds)
      const { least, most } = commandsPerSection(row, perCohort)
      const listening = row.processes === 1 && row.callers === 1 ? 0 : row.processes
      return [
        `${row.processes} × ${row.callers}`,
        String(row.holdMs),
        row.sectionsPerCohort.toFixed(1),
        String(perCohort),
        row.commandsPerSection.toFixed(2),
        least === most ? least.toFixed(2) : `${least.toFixed(2)}–${most.toFixed(2)}`,
        row.failedTriesPerCohort.toFixed(2),
        ((row.messagesPerSecond * row.listeners) / row.sectionsPerSecond).toFixed(2),
        (listening / perCohort).toFixed(2),
      ]
    }),
  ])
}

export function waitersTable(rows: readonly WaitersRow[]): string {
  const head = [
    ...['waiters', 'processes', 'locks', 'commands/s', 'of them PING', 'model', 'heap/waiter, bytes'],
    ...['server memory, kB in all', 'server, cores'],
  ]
  return table([
    head,
    ...rows.map((row) => [
      count(row.waiters),
      String(row.processes),
      count(row.locks),
      row.commandsPerSecond.toFixed(1),
      row.pingsPerSecond.toFixed(1),
      idleCommandsPerSecond(row.processes).toFixed(1),
      row.heapPerWaiter.toFixed(0),
      (row.serverBytes / 1_000).toFixed(0),
      row.serverCpu.toFixed(3),
    ]),
  ])
}

export function heldTable(rows: readonly HeldRow[]): string {
  const head = [
    ...['held locks', 'server, cores', 'client, cores', 'event loop late, p99 ms', 'max ms'],
    'heap/lock, bytes',
  ]
  return table([
    head,
    ...rows.map((row) => [
      count(row.locks),
      row.serverCpu.toFixed(3),
      row.clientCpu.toFixed(3),
      row.delayP99Ms.toFixed(1),
      row.delayMaxMs.toFixed(1),
      row.heapPerLock.toFixed(0),
    ]),
  ])
}

/**
 * Commands by the model. Cores in proportion to those of the largest number of locks below a million, where batches
 * are as full as there.
 */
export function renewalTable(rows: readonly HeldRow[]): string {
  const base = rows.findLast(({ locks }) => locks < 1_000_000) ?? rows[0]!
  const scaled = (cores: number, { locks, spreadMs }: HeldRow) =>
    spreadMs === base.spreadMs ? ((cores * locks) / base.locks).toFixed(3) : '–'
  const head = [
    ...[
      'held locks',
      'taken within',
      'commands/s, model',
      'measured',
      'server, cores, extrapolated',
      'measured',
    ],
    ...['client, cores, extrapolated', 'measured'],
  ]
  return table([
    head,
    ...rows.map((row) => {
      const { least, most } = renewalCommandsPerSecond(row.locks)
      return [
        count(row.locks),
        takenWithin(row),
        least === most ? count(least) : `${count(least)}–${count(most)}`,
        count(row.commandsPerSecond),
        scaled(base.serverCpu, row),
        row.serverCpu.toFixed(3),
        scaled(base.clientCpu, row),
        row.clientCpu.toFixed(3),
      ]
    }),
  ])
}

function takenWithin({ spreadMs, locks, takenPerSecond }: HeldRow): string {
  return `${(spreadMs > 0 ? spreadMs / 1_000 : locks / takenPerSecond).toFixed(1)} s`
}
