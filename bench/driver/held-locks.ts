import type { Measured } from '../scenarios/scenario'
import type { Subject } from '../subjects/catalogue'
import type { HeldLocksWork } from '../worker/protocol'
import type { Measuring } from './measuring'
import { together } from './together'
import { overWindow } from './window'

/** To take so many, at the pace of the slowest. */
const takingMs = (locks: number) => 3_000 + locks * 0.2

export async function measureHeldLocks(
  subject: Subject,
  locks: number,
  { single, command }: Measuring,
): Promise<Measured> {
  const { renewsEveryMs } = subject
  if (renewsEveryMs === undefined) throw new Error(`${subject.name} renews nothing by itself`)
  await single.servers[0]!.flushall()
  const work: HeldLocksWork = {
    ...single.address,
    scenario: 'held-locks',
    subject: subject.name,
    locks: Array.from({ length: locks }, (_, index) => `bench:${index}`),
    warmupMs: takingMs(locks),
    // So that each lock is renewed once.
    measureMs: renewsEveryMs,
  }
  const { results, seen } = await together([{ command: command(subject), work }], (start) =>
    overWindow(single, work, start, subject.alsoSent),
  )
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
    },
    troubles: kept < locks ? [{ kind: 'errors', text: `${locks - kept} of ${locks} locks were lost` }] : [],
  }
}
