import { setTimeout as sleep } from 'node:timers/promises'
import type { RecordKeys, Routine } from './messages'

/** What a section asks of the server. */
export interface Commands {
  get(key: string): Promise<string | null>
  set(key: string, value: number): Promise<unknown>
  xadd(key: string, id: string, ...fields: string[]): Promise<unknown>
}

export interface Turn {
  readonly who: string
  readonly thread: string
  /** The hold that covers it, as on the wire. */
  readonly threadId: number
  readonly waitMs: number
}

/** What is done while the lock is held: all of it goes wrong, visibly, when it is not. The Java peer does the same. */
export async function criticalSection(
  redis: Commands,
  keys: RecordKeys,
  { side, holdMs }: Routine,
  turn: Turn,
): Promise<void> {
  await log('acquired')
  await log('released', await work())

  /** Answers what a reader found. */
  async function work(): Promise<Record<string, number>> {
    const before = Number(await redis.get(keys.counter))
    if (side === 'read') {
      await linger()
      return { first: before, second: Number(await redis.get(keys.twin)) }
    }
    // In two steps with a while between them: a reader meanwhile sees half a change.
    if (side === 'write') await redis.set(keys.counter, before + 1)
    await linger()
    await redis.set(side === 'write' ? keys.twin : keys.counter, before + 1)
    return {}
  }

  async function linger(): Promise<void> {
    await sleep(holdMs[0] + Math.random() * (holdMs[1] - holdMs[0]))
  }

  async function log(event: string, found: Record<string, number> = {}): Promise<void> {
    const entry = { ...turn, type: side, event, waitMs: turn.waitMs.toFixed(3), ...found }
    await redis.xadd(keys.log, '*', ...Object.entries(entry).flat().map(String))
  }
}
