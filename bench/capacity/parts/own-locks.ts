import { runCallers } from '../../driver/callers'
import { spreadOf } from '../../driver/statistics'
import { assertSound, callersMeasuring, RLOCK, ratesOf, type Surroundings } from '../surroundings'

/** Every caller takes a lock that no other caller wants: what acquiring and releasing cost, and nothing besides. */
export interface OwnLocksRow {
  readonly processes: number
  /** In each process. */
  readonly callers: number
  readonly sectionsPerSecond: number
  readonly commandsPerSection: number
  /** In cores. */
  readonly serverCpu: number
  readonly clientCpu: number
}

const SETUPS = [
  [1, 1],
  [1, 8],
  [1, 64],
  [2, 64],
  [8, 1],
  [8, 8],
] as const

const ROUNDS = 2

export async function measureOwnLocks(around: Surroundings): Promise<OwnLocksRow[]> {
  const rounds: OwnLocksRow[][] = []
  for (let round = 1; round <= ROUNDS; round++) {
    const rows: OwnLocksRow[] = []
    for (const [processes, callers] of SETUPS) {
      around.onProgress(`a lock each: round ${round}, ${processes} processes of ${callers} callers`)
      rows.push(await measureOne(around, processes, callers))
    }
    rounds.push(rows)
  }
  return SETUPS.map((_, index) => medianRow(rounds.map((rows) => rows[index]!)))
}

async function measureOne(around: Surroundings, processes: number, callers: number): Promise<OwnLocksRow> {
  const setup = { processes, callers, locks: callers, apart: true }
  const { results, seen } = await runCallers(RLOCK, setup, around.single, callersMeasuring(around))
  assertSound(results)
  const { sections, clientCpu } = ratesOf(results)
  return {
    processes,
    callers,
    sectionsPerSecond: sections,
    commandsPerSection: seen.clientCommands / sections,
    serverCpu: seen.cpu,
    clientCpu,
  }
}

function medianRow(rows: readonly OwnLocksRow[]): OwnLocksRow {
  const names = Object.keys(rows[0]!) as (keyof OwnLocksRow)[]
  const medians = names.map((name) => [name, spreadOf(rows.map((row) => row[name]))!.median])
  return Object.fromEntries(medians) as unknown as OwnLocksRow
}
