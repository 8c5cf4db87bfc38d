import { setTimeout as sleep } from 'node:timers/promises'
import { epochNow } from '../worker/epoch'
import type { Work } from '../worker/protocol'
import type { Place } from './measuring'
import {
  type CommandCounts,
  commandCounts,
  cpuSeconds,
  difference,
  sum,
  type Traffic,
  traffic,
} from './server-counts'

/** What the servers did in a window, a second. */
export interface ServerRates extends Traffic {
  /** 1: one core was busy all the time. */
  readonly cpu: number
  /** How often each command ran, those that scripts called included. */
  readonly calls: CommandCounts
}

/** Looks at the servers when the window begins and when it ends. */
export async function overWindow(
  { servers }: Place,
  { warmupMs, measureMs }: Pick<Work, 'warmupMs' | 'measureMs'>,
  start: number,
  alsoSent: Readonly<Record<string, number>> = {},
): Promise<ServerRates> {
  const look = () =>
    Promise.all(
      servers.map(async (server) => ({
        cpu: await cpuSeconds(server),
        counts: await commandCounts(server),
        at: performance.now(),
      })),
    )
  await sleep(start + warmupMs - epochNow())
  const before = await look()
  await sleep(start + warmupMs + measureMs - epochNow())
  const after = await look()
  const each = after.map(({ cpu, counts, at }, index) => {
    const { cpu: cpuBefore, counts: countsBefore, at: atBefore } = before[index]!
    const seconds = (at - atBefore) / 1_000
    const calls = difference(countsBefore, counts)
    const seen = traffic(calls, alsoSent)
    return {
      calls: new Map([...calls].map(([name, count]) => [name, count / seconds])),
      clientCommands: seen.clientCommands / seconds,
      serverCommands: seen.serverCommands / seconds,
      messages: seen.messages / seconds,
      cpu: (cpu - cpuBefore) / seconds,
    }
  })
  const total = (name: Exclude<keyof ServerRates, 'calls'>) => sum(each.map((rates) => rates[name]))
  const names = new Set(each.flatMap(({ calls }) => [...calls.keys()]))
  return {
    calls: new Map([...names].map((name) => [name, sum(each.map(({ calls }) => calls.get(name) ?? 0))])),
    clientCommands: total('clientCommands'),
    serverCommands: total('serverCommands'),
    messages: total('messages'),
    cpu: total('cpu'),
  }
}
