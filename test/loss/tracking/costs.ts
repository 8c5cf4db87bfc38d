import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { serverState } from './server-state'
import type { Done, Mode, Work } from './worker'

export const MODES: readonly Mode[] = ['none', 'renewed', 'acquired']

interface Slice {
  readonly sectionsASecond: number
  /** For one section: */
  readonly commands: number
  readonly messages: number
  readonly serverMicros: number
  readonly clientMicros: number
}

export interface Costs extends Slice {
  /** Sections a second against those without tracking right before or after. */
  readonly ratio: number
}

const SLICE = 400

/** So many processes with so many flows each, on one lock or each on its own; all modes turn by turn. */
export async function costs(
  url: string,
  processes: number,
  flows: number,
  oneLock: boolean,
  turns: number,
): Promise<Record<Mode, Costs>> {
  const redis = new Redis(url, { replyMapping: 'legacy' })
  const workers = { none: [], renewed: [], acquired: [] } as Record<Mode, ChildProcess[]>
  const slices = { none: [], renewed: [], acquired: [] } as Record<Mode, Slice[]>
  for (const mode of MODES)
    for (let index = 0; index < processes; index++) workers[mode].push(await startWorker(url, mode, 30_000))
  for (let turn = -1; turn < turns; turn++)
    // Each is first, second and last equally often.
    for (const mode of MODES.map((_, index) => MODES[(turn + 1 + index) % MODES.length]!)) {
      const work = (index: number): Work => ({ name: oneLock ? 'hot' : `own:${index}`, flows, ms: SLICE })
      const slice = await measure(redis, workers[mode], work)
      if (turn >= 0) slices[mode].push(slice)
    }
  for (const worker of Object.values(workers).flat()) worker.kill()
  redis.disconnect()
  const costsOf = (mode: Mode): Costs => ({
    ...medians(slices[mode]),
    ratio: median(
      slices[mode].map((slice, turn) => slice.sectionsASecond / slices.none[turn]!.sectionsASecond),
    ),
  })
  return { none: costsOf('none'), renewed: costsOf('renewed'), acquired: costsOf('acquired') }
}

/** What the server needs for each of so many held locks: bytes, and µs each time it is renewed. */
export async function held(
  url: string,
  count: number,
): Promise<Record<Mode, { bytes: number; cpu: number }>> {
  const redis = new Redis(url, { replyMapping: 'legacy' })
  const needs = {} as Record<Mode, { bytes: number; cpu: number }>
  const lease = 30_000
  for (const mode of MODES) {
    await redis.flushall('SYNC')
    const worker = await startWorker(url, mode, lease)
    const before = await serverState(redis)
    worker.send({ hold: count })
    await once(worker, 'message')
    // Twice renewed: by the first turn the tracking begins, by the second everything is tracked.
    await sleep((2.2 * lease) / 3)
    const settled = await serverState(redis)
    await sleep(lease / 3)
    const after = await serverState(redis)
    needs[mode] = { bytes: (after.memory - before.memory) / count, cpu: (after.cpu - settled.cpu) / count }
    worker.kill()
    await once(worker, 'exit')
  }
  await redis.flushall('SYNC')
  redis.disconnect()
  return needs
}

async function startWorker(url: string, mode: Mode, lease: number): Promise<ChildProcess> {
  const worker = fork(join(__dirname, 'worker.ts'), [url, mode, String(lease)], {
    execArgv: ['--import', 'tsx'],
  })
  await once(worker, 'message')
  return worker
}

async function measure(redis: Redis, workers: ChildProcess[], work: (index: number) => Work): Promise<Slice> {
  const before = await serverState(redis)
  const started = performance.now()
  const done = await Promise.all(
    workers.map(async (worker, index) => {
      worker.send(work(index))
      const [answer] = await once(worker, 'message')
      return answer as Done
    }),
  )
  const seconds = (performance.now() - started) / 1_000
  const after = await serverState(redis)
  const sum = (of: (each: Done) => number) => done.reduce((total, each) => total + of(each), 0)
  const sections = sum((each) => each.sections)
  return {
    sectionsASecond: sections / seconds,
    commands: (after.scripts - before.scripts) / sections,
    messages: sum((each) => each.messages) / sections,
    serverMicros: (after.cpu - before.cpu) / sections,
    clientMicros: sum((each) => each.cpu) / sections,
  }
}

function medians(slices: readonly Slice[]): Slice {
  const of = (field: keyof Slice) => median(slices.map((slice) => slice[field]))
  return {
    sectionsASecond: of('sectionsASecond'),
    commands: of('commands'),
    messages: of('messages'),
    serverMicros: of('serverMicros'),
    clientMicros: of('clientMicros'),
  }
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1]!
}
