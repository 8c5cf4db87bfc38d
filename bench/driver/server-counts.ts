import { setTimeout as sleep } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import { info } from '../../test/kit/servers/with-client'
import { epochNow } from '../worker/epoch'
import type { Work } from '../worker/protocol'
import type { Place } from './measuring'

/** How often the server ran each command, by lower-case name. */
type CommandCounts = ReadonlyMap<string, number>

async function commandCounts(redis: Redis): Promise<CommandCounts> {
  const stats = await info(redis, 'commandstats')
  return new Map(
    [...stats].map(([name, fields]) => [
      name.replace('cmdstat_', ''),
      Number(/calls=(\d+)/.exec(fields)?.[1] ?? 0),
    ]),
  )
}

async function cpuSeconds(redis: Redis): Promise<number> {
  const cpu = await info(redis, 'cpu')
  return Number(cpu.get('used_cpu_user')) + Number(cpu.get('used_cpu_sys'))
}

/** Bytes that the server has allocated. */
export async function memoryBytes(redis: Redis): Promise<number> {
  return Number((await info(redis, 'memory')).get('used_memory'))
}

function difference(before: CommandCounts, after: CommandCounts): CommandCounts {
  return new Map([...after].map(([name, count]) => [name, count - (before.get(name) ?? 0)]))
}

/**
 * The server counts what a script calls like what a client sends: in `commandstats` and in
 * `total_commands_processed` alike. So we count the commands that only clients send; what a subject sends
 * besides, and its scripts never call, it names itself.
 */
const SENT_BY_CLIENTS_ONLY = [
  'eval',
  'evalsha',
  'eval_ro',
  'evalsha_ro',
  'fcall',
  'subscribe',
  'unsubscribe',
  'ssubscribe',
  'sunsubscribe',
  'psubscribe',
  'punsubscribe',
  'ping',
  'wait',
  'script|load',
]

interface Traffic {
  /** Commands that clients sent. */
  readonly clientCommands: number
  /** All that the server ran, those that scripts called included; not our own INFO. */
  readonly serverCommands: number
  /** Messages published, however many subscribers each reached. */
  readonly messages: number
}

function traffic(counts: CommandCounts, alsoSent: Readonly<Record<string, number>> = {}): Traffic {
  const of = (name: string) => counts.get(name) ?? 0
  const others = Object.entries(alsoSent).map(([name, share]) => of(name) * share)
  return {
    clientCommands: sum([...SENT_BY_CLIENTS_ONLY.map(of), ...others]),
    serverCommands: sum([...counts].filter(([name]) => name !== 'info').map(([, count]) => count)),
    messages: of('publish') + of('spublish'),
  }
}

export const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)

/** What the servers did in a window, a second. */
export interface ServerRates extends Traffic {
  /** 1: one core was busy all the time. */
  readonly cpu: number
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
    const seen = traffic(difference(countsBefore, counts), alsoSent)
    return {
      clientCommands: seen.clientCommands / seconds,
      serverCommands: seen.serverCommands / seconds,
      messages: seen.messages / seconds,
      cpu: (cpu - cpuBefore) / seconds,
    }
  })
  const total = (name: keyof ServerRates) => sum(each.map((rates) => rates[name]))
  return {
    clientCommands: total('clientCommands'),
    serverCommands: total('serverCommands'),
    messages: total('messages'),
    cpu: total('cpu'),
  }
}
