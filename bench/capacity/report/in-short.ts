import { renewalCommandsPerSecond } from '../model'
import type { OneLockRow } from '../parts/one-lock'
import type { CapacityResults } from '../results'
import { about } from './numbers'
import { sectionsPerCore } from './sentences'
import { heldRows } from './tables'

/** What somebody in a hurry takes away. */
export function inShort(results: CapacityResults): string {
  const points = [
    ...aboutCores(results),
    ...aboutOneLock(results),
    ...aboutWaiters(results),
    ...aboutHeld(results),
  ]
  return points.map((point) => `- ${point}`).join('\n')
}

function aboutCores({ ownLocks }: CapacityResults): string[] {
  if (!ownLocks) return []
  const [server, client] = [
    sectionsPerCore(ownLocks.rows, 'serverCpu'),
    sectionsPerCore(ownLocks.rows, 'clientCpu'),
  ]
  return [
    `**A core of Redis** does ${about(server.alone)} to ${about(server.together)} sections (lock and unlock) a second: the ` +
      'less where many processes send one command at a time, the more where busy clients send many.',
    `**A core of Node** does ${about(client.alone)} to ${about(client.together)}, likewise.`,
  ]
}

function aboutOneLock({ oneLock }: CapacityResults): string[] {
  if (!oneLock) return []
  const { rows } = oneLock
  const rate = (one: OneLockRow | undefined) => about(one?.sectionsPerSecond ?? Number.NaN)
  const shared = (processes: number, holdMs: number) =>
    rows.find((row) => row.processes === processes && row.callers > 1 && row.holdMs === holdMs)
  const several = Math.max(...rows.map(({ processes }) => processes))
  return [
    `**One hot lock** passes on ${rate(shared(1, 0))} times a second within a process and ${rate(shared(several, 0))} times ` +
      `among ${several} processes, where the sections are empty; with sections of 5 ms, ${rate(shared(1, 5))} and ` +
      `${rate(shared(several, 5))} times. No cluster makes that more: it is one key.`,
  ]
}

function aboutWaiters({ waiters }: CapacityResults): string[] {
  const one = waiters?.rows[0]
  if (!one) return []
  return [
    `**${about(one.waiters)} idle waiters** in ${one.processes} processes cost ${one.commandsPerSecond.toFixed(1)} commands a ` +
      `second in all and ${(one.heapPerWaiter / 1_000).toFixed(1)} kB of heap each.`,
  ]
}

function aboutHeld(results: CapacityResults): string[] {
  const largest = heldRows(results)?.at(-1)
  if (!largest) return []
  return [
    `**${largest.locks.toLocaleString('en-US')} held locks** in one process take ${about(renewalCommandsPerSecond(largest.locks).least)} commands ` +
      `a second for renewal as modelled, ${about(largest.commandsPerSecond)} as measured, ` +
      `${largest.clientCpu.toFixed(2)} of a core there and ${largest.serverCpu.toFixed(2)} of one at the server, ` +
      `${(largest.heapPerLock / 1_000).toFixed(1)} kB of heap and ${about(largest.serverBytesPerLock)} bytes of Redis each.`,
  ]
}
