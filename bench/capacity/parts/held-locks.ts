import { measureHeldLocks } from '../../driver/held-locks'
import { RLOCK, type Surroundings } from '../surroundings'

/** Locks that one process holds and renews. */
export interface HeldRow {
  readonly locks: number
  /** Taken evenly over so long; 0: as fast as can be. */
  readonly spreadMs: number
  readonly commandsPerSecond: number
  /** In cores. */
  readonly serverCpu: number
  readonly clientCpu: number
  /** How late timers were. */
  readonly delayP99Ms: number
  readonly delayMaxMs: number
  readonly heapPerLock: number
  readonly serverBytesPerLock: number
  readonly takenPerSecond: number
}

/** For the largest number of locks; Node's own bound depends on the machine. */
const HEAP_MB = 6_144

/** Slower than a busy machine of two cores; one that is slower still is notified. */
const TAKEN_AT_LEAST = 14_000

export async function measureHeld(
  { single, node, onProgress }: Surroundings,
  setups: readonly { readonly locks: number; readonly spreadMs: number }[],
): Promise<HeldRow[]> {
  const command = { ...node, args: [`--max-old-space-size=${HEAP_MB}`, ...node.args] }
  const rows: HeldRow[] = []
  for (const { locks, spreadMs } of setups) {
    onProgress(`${locks} held locks, taken within ${spreadMs} ms`)
    const measuring = { single, command: () => command }
    const taking = { atLeastPerSecond: TAKEN_AT_LEAST, spreadMs }
    const { figures, troubles } = await measureHeldLocks(RLOCK, locks, measuring, taking)
    if (troubles[0]) throw new Error(troubles[0].text)
    const of = (name: string) => figures[name]!
    rows.push({
      locks,
      spreadMs,
      commandsPerSecond: of('renewalCommandsPerSecond'),
      serverCpu: of('serverCpu'),
      clientCpu: of('clientCpu'),
      delayP99Ms: of('delayP99Ms'),
      delayMaxMs: of('delayMaxMs'),
      heapPerLock: of('heapPerLock'),
      serverBytesPerLock: of('serverBytesPerLock'),
      takenPerSecond: of('takenPerSecond'),
    })
  }
  return rows
}
