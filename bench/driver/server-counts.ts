import type { Redis } from 'ioredis'
import { info } from '../../test/kit/servers/with-client'

/** How often the server ran each command, by lower-case name. */
export type CommandCounts = ReadonlyMap<string, number>

export async function commandCounts(redis: Redis): Promise<CommandCounts> {
  const stats = await info(redis, 'commandstats')
  return new Map(
    [...stats].map(([name, fields]) => [
      name.replace('cmdstat_', ''),
      Number(/calls=(\d+)/.exec(fields)?.[1] ?? 0),
    ]),
  )
}

export async function cpuSeconds(redis: Redis): Promise<number> {
  const cpu = await info(redis, 'cpu')
  return Number(cpu.get('used_cpu_user')) + Number(cpu.get('used_cpu_sys'))
}

/** Bytes that the server has allocated. */
export async function memoryBytes(redis: Redis): Promise<number> {
  return Number((await info(redis, 'memory')).get('used_memory'))
}

export function difference(before: CommandCounts, after: CommandCounts): CommandCounts {
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

export interface Traffic {
  /** Commands that clients sent. */
  readonly clientCommands: number
  /** All that the server ran, those that scripts called included; not our own INFO. */
  readonly serverCommands: number
  /** Messages published, however many subscribers each reached. */
  readonly messages: number
}

export function traffic(counts: CommandCounts, alsoSent: Readonly<Record<string, number>> = {}): Traffic {
  const of = (name: string) => counts.get(name) ?? 0
  const others = Object.entries(alsoSent).map(([name, share]) => of(name) * share)
  return {
    clientCommands: sum([...SENT_BY_CLIENTS_ONLY.map(of), ...others]),
    serverCommands: sum([...counts].filter(([name]) => name !== 'info').map(([, count]) => count)),
    messages: of('publish') + of('spublish'),
  }
}

export const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)
