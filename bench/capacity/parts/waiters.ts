import { ForeignLock } from '../../../test/kit/foreign-lock'
import { memoryBytes, sum } from '../../driver/server-counts'
import { together } from '../../driver/together'
import { overWindow } from '../../driver/window'
import type { IdleWaitersWork } from '../../worker/protocol'
import { RLOCK, type Surroundings } from '../surroundings'

/** Waiters before locks that somebody else holds, while nothing happens. */
export interface WaitersRow {
  readonly processes: number
  readonly waiters: number
  readonly locks: number
  readonly commandsPerSecond: number
  readonly pingsPerSecond: number
  readonly heapPerWaiter: number
  /** All that the server allocated for them. */
  readonly serverBytes: number
  readonly serverCpu: number
}

const SETUPS = [
  { processes: 4, waiters: 1_000, locks: 1 },
  { processes: 1, waiters: 10_000, locks: 10_000 },
]

const SETTLING = 3_500

/** Twice that between two PINGs. */
const WINDOW = 6_000

/** The locks stay held for all of it. */
const FOR_LONG = 600_000

export async function measureWaiters(around: Surroundings): Promise<WaitersRow[]> {
  const rows: WaitersRow[] = []
  for (const setup of SETUPS) {
    around.onProgress(`${setup.waiters} waiters in ${setup.processes} processes, ${setup.locks} locks`)
    rows.push(await measureOne(around, setup))
  }
  return rows
}

async function measureOne(
  { single, node }: Surroundings,
  { processes, waiters, locks }: (typeof SETUPS)[number],
): Promise<WaitersRow> {
  const server = single.servers[0]!
  await server.flushall()
  const names = Array.from({ length: locks }, (_, index) => `bench:${index}`)
  await Promise.all(names.map((name) => new ForeignLock(server, name).take(FOR_LONG)))
  const work: IdleWaitersWork = {
    ...single.address,
    scenario: 'idle-waiters',
    subject: RLOCK.name,
    locks: names,
    callers: waiters / processes,
    warmupMs: SETTLING,
    measureMs: WINDOW,
  }
  const assignments = Array.from({ length: processes }, () => ({ command: node, work }))
  const { results, seen } = await together(assignments, async (start) => {
    // Connected already, and no caller waits yet.
    const bytesBefore = await memoryBytes(server)
    const rates = await overWindow(single, work, start, RLOCK.alsoSent)
    return { ...rates, bytes: (await memoryBytes(server)) - bytesBefore }
  })
  const ended = sum(results.map((result) => result.ended))
  if (ended > 0) throw new Error(`${ended} waits ended: ${results.flatMap((one) => one.errorMessages)[0]}`)
  return {
    processes,
    waiters,
    locks,
    commandsPerSecond: seen.clientCommands,
    pingsPerSecond: seen.calls.get('ping') ?? 0,
    heapPerWaiter: sum(results.map((result) => result.heapBytes)) / waiters,
    serverBytes: seen.bytes,
    serverCpu: seen.cpu,
  }
}
