import type { Measured } from '../scenarios/scenario'
import type { Subject } from '../subjects/catalogue'
import type { HeldLocksWork } from '../worker/protocol'
import type { Measuring } from './measuring'
import { memoryBytes } from './server-counts'
import { together } from './together'
import { overWindow } from './window'

/** To take so many; the pace is that of the slowest subject. */
const takingMs = (locks: number, perSecond = 5_000) => 3_000 + (locks / perSecond) * 1_000

export async function measureHeldLocks(
  subject: Subject,
  locks: number,
  { single, command }: Pick<Measuring, 'single' | 'command'>,
  { atLeastPerSecond, spreadMs = 0 }: { atLeastPerSecond?: number; spreadMs?: number } = {},
): Promise<Measured> {
  const { renewsEveryMs } = subject
  if (renewsEveryMs === undefined) throw new Error(`${subject.name} renews nothing by itself`)
  await single.servers[0]!.flushall()
  const work: HeldLocksWork = {
    ...single.address,
    scenario: 'held-locks',
    subject: subject.name,
    locks: Array.from({ length: locks }, (_, index) => `bench:${index}`),
    warmupMs: takingMs(locks, atLeastPerSecond) + spreadMs,
    ...(spreadMs > 0 && { spreadMs }),
    // So that each lock is renewed once.
    measureMs: renewsEveryMs,
  }
  const memory = () => memoryBytes(single.servers[0]!)
  const { results, seen } = await together([{ command: command(subject), work }], async (start) => {
    const bytesBefore = await memory()
    const rates = await overWindow(single, work, start, subject.alsoSent)
    return { ...rates, bytes: (await memory()) - bytesBefore }
  })
  const { cpuSeconds, delayP99Ms, delayMaxMs, heapBytes, takingMs: took } = results[0]!
  const kept = await single.servers[0]!.dbsize()
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
    troubles: kept < locks ? [{ kind: 'errors', text: `${locks - kept} of ${locks} locks were lost` }] : [],
  }
}
