import type { Redis } from 'ioredis'
import type { Measured } from '../scenarios/scenario'
import type { Subject } from '../subjects/catalogue'
import type { HeldLocksWork, ObjectKind } from '../worker/protocol'
import type { Measuring } from './measuring'
import { memoryBytes, overWindow } from './server-counts'
import { together } from './worker-process'

/** To take so many; the pace is that of the slowest subject. */
const takingMs = (locks: number, perSecond = 5_000) => 3_000 + (locks / perSecond) * 1_000

/** What is held where it is no lock: how to make it ready, and how much of it is held. */
export interface HeldObjects {
  readonly object: ObjectKind
  prepare(server: Redis, count: number): Promise<unknown>
  held(server: Redis): Promise<number>
}

export async function measureHeldLocks(
  subject: Subject,
  locks: number,
  { single, command }: Pick<Measuring, 'single' | 'command'>,
  { atLeastPerSecond, objects }: { atLeastPerSecond?: number; objects?: HeldObjects } = {},
): Promise<Measured> {
  const { renewsEveryMs } = subject
  if (renewsEveryMs === undefined) throw new Error(`${subject.name} renews nothing by itself`)
  const server = single.servers[0]!
  await server.flushall()
  await objects?.prepare(server, locks)
  const work: HeldLocksWork = {
    ...single.address,
    scenario: 'held-locks',
    subject: subject.name,
    ...(objects && { object: objects.object }),
    locks: Array.from({ length: locks }, (_, index) => `bench:${index}`),
    warmupMs: takingMs(locks, atLeastPerSecond),
    // So that each lock is renewed once.
    measureMs: renewsEveryMs,
  }
  const memory = () => memoryBytes(server)
  const { results, seen } = await together([{ command: command(subject), work }], async (start) => {
    const bytesBefore = await memory()
    const rates = await overWindow(single, work, start, subject.alsoSent)
    return { ...rates, bytes: (await memory()) - bytesBefore }
  })
  const { cpuSeconds, delayP99Ms, delayMaxMs, heapBytes, takingMs: took } = results[0]!
  const kept = await (objects ? objects.held(server) : server.dbsize())
  return {
    figures: {
      heldLocks: locks,
      takenPerSecond: locks / (took / 1_000),
      renewalCommandsPerSecond: seen.clientCommands,
      serverCpu: seen.cpu,
      clientCpu: cpuSeconds / (renewsEveryMs / 1_000),
      delayP99Ms,
      delayMaxMs,
      heapPerLock: heapBytes / locks,
      serverBytesPerLock: seen.bytes / locks,
    },
    troubles: kept < locks ? [{ kind: 'errors', text: `${locks - kept} of ${locks} were lost` }] : [],
  }
}
