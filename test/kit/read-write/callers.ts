import { setTimeout as sleep } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import type { Redisson } from '../../../src/index'

/** What one process of the mixed tests does; the fields are those of the Java peer's contention. */
export interface CallersSpec {
  readonly who: string
  readonly lock: string
  readonly readers: number
  readonly writers: number
  readonly durationMs: number
  readonly holdMs: readonly [number, number]
  readonly readerPauseMs: readonly [number, number]
  readonly writerPauseMs: readonly [number, number]
  /** The two keys of the record, always equal unless somebody is writing. */
  readonly counterKey: string
  readonly twinKey: string
  readonly logStream: string
}

export interface CallersReport {
  readonly reads: number
  readonly writes: number
  readonly longestReadWaitMs: number
  readonly longestWriteWaitMs: number
}

/** Goes through both sides of a lock until the time is up, each caller a caller of its own. */
export async function runCallers(
  redisson: Redisson,
  redis: Redis,
  spec: CallersSpec,
): Promise<CallersReport> {
  const rw = redisson.getReadWriteLock(spec.lock)
  const until = performance.now() + spec.durationMs
  const waits = { read: [] as number[], write: [] as number[] }

  const caller = async (type: 'read' | 'write', thread: string) => {
    const lock = type === 'read' ? rw.readLock() : rw.writeLock()
    while (performance.now() < until) {
      const asked = performance.now()
      await lock.withLock(async () => {
        const waitMs = performance.now() - asked
        waits[type].push(waitMs)
        const note = (event: string, seen: string[] = []) =>
          redis.xadd(
            spec.logStream,
            '*',
            ...['who', spec.who, 'thread', thread, 'type', type, 'event', event, ...seen],
          )
        await note('acquired')
        const first = Number(await redis.get(spec.counterKey))
        if (type === 'read') {
          await sleep(between(spec.holdMs))
          const second = Number(await redis.get(spec.twinKey))
          await note('released', ['first', String(first), 'second', String(second)])
        } else {
          await redis.set(spec.counterKey, first + 1)
          await sleep(between(spec.holdMs))
          await redis.set(spec.twinKey, first + 1)
          await note('released')
        }
      })
      await sleep(between(type === 'read' ? spec.readerPauseMs : spec.writerPauseMs))
    }
  }
  await Promise.all([
    ...Array.from({ length: spec.readers }, (_, i) => caller('read', `reader-${i}`)),
    ...Array.from({ length: spec.writers }, (_, i) => caller('write', `writer-${i}`)),
  ])
  return {
    reads: waits.read.length,
    writes: waits.write.length,
    longestReadWaitMs: Math.max(0, ...waits.read),
    longestWriteWaitMs: Math.max(0, ...waits.write),
  }
}

function between([least, most]: readonly [number, number]): number {
  return least + Math.random() * (most - least)
}

/** What the server's own order of events says. */
export interface Verdict {
  readonly reads: number
  readonly writes: number
  /** A writer was inside with somebody else. */
  readonly company: string[]
  /** A reader found the two keys of the record different. */
  readonly torn: string[]
  readonly mostReadersTogether: number
  /** Who entered but never left: none, once all are through. */
  readonly inside: number
}

export async function judge(redis: Redis, logStream: string): Promise<Verdict> {
  const inside = new Map<string, string>()
  const company: string[] = []
  const torn: string[] = []
  let [reads, writes, mostReadersTogether] = [0, 0, 0]
  for (const [id, fields] of await redis.xrange(logStream, '-', '+')) {
    const entry = Object.fromEntries(
      fields.flatMap((field, i) => (i % 2 === 0 ? [[field, fields[i + 1]!]] : [])),
    )
    const caller = `${entry.who} ${entry.thread}`
    if (entry.event === 'acquired') {
      const writing = [...inside.values()].includes('write')
      if (writing || (entry.type === 'write' && inside.size > 0))
        company.push(`${id}: ${caller} (${entry.type}) entered beside ${[...inside.keys()].join(', ')}`)
      inside.set(caller, entry.type!)
      if (entry.type === 'read') reads++
      else writes++
      if (entry.type === 'read') mostReadersTogether = Math.max(mostReadersTogether, inside.size)
    } else {
      inside.delete(caller)
      if (entry.first !== entry.second) torn.push(`${id}: ${caller} read ${entry.first} and ${entry.second}`)
    }
  }
  return { reads, writes, company, torn, mostReadersTogether, inside: inside.size }
}
