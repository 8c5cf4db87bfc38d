import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import type { Done, Work } from './worker'

type Mode = 'plain' | 'tracked'
const MODES: readonly Mode[] = ['plain', 'tracked']

interface Slice {
  readonly sectionsASecond: number
  /** For one section: */
  readonly commands: number
  readonly messages: number
  readonly serverMicros: number
  readonly clientMicros: number
}

const SLICE = 1_000

/** So many processes with so many flows each, on one lock or each on its own; both modes turn by turn. */
export async function costs(
  url: string,
  title: string,
  processes: number,
  flows: number,
  oneLock: boolean,
  pairs: number,
) {
  const redis = new Redis(url, { replyMapping: 'legacy' })
  const workers = { plain: [] as ChildProcess[], tracked: [] as ChildProcess[] }
  for (const mode of MODES)
    for (let index = 0; index < processes; index++) workers[mode].push(await startWorker(url, mode))
  const slices: Record<Mode, Slice[]> = { plain: [], tracked: [] }
  for (let pair = -1; pair < pairs; pair++)
    // Whoever comes second has a warmer machine.
    for (const mode of pair % 2 === 0 ? MODES : MODES.toReversed()) {
      const work = (index: number): Work => ({ name: oneLock ? 'hot' : `own:${index}`, flows, ms: SLICE })
      const slice = await measure(redis, workers[mode], work)
      if (pair >= 0) slices[mode].push(slice)
    }
  for (const worker of [...workers.plain, ...workers.tracked]) worker.kill()
  redis.disconnect()
  const ratios = slices.tracked.map(
    (tracked, index) => tracked.sectionsASecond / slices.plain[index]!.sectionsASecond,
  )
  return { title, ratio: median(ratios), plain: medians(slices.plain), tracked: medians(slices.tracked) }
}

export type Costs = Awaited<ReturnType<typeof costs>>

/** Bytes that the server needs for each of so many held locks. */
export async function memory(url: string, count: number): Promise<Record<Mode, number>> {
  const redis = new Redis(url, { replyMapping: 'legacy' })
  const bytes = { plain: 0, tracked: 0 }
  for (const mode of MODES) {
    await redis.flushall('SYNC')
    const worker = await startWorker(url, mode)
    const before = await info(redis, 'memory', 'used_memory')
    worker.send({ hold: count })
    await once(worker, 'message')
    bytes[mode] = ((await info(redis, 'memory', 'used_memory')) - before) / count
    worker.kill()
    await once(worker, 'exit')
  }
  await redis.flushall('SYNC')
  redis.disconnect()
  return bytes
}

export async function startWorker(url: string, mode: Mode): Promise<ChildProcess> {
  const worker = fork(join(__dirname, 'worker.ts'), [url, mode], { execArgv: ['--import', 'tsx'] })
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

async function serverState(redis: Redis) {
  const stats = await redis.info('commandstats')
  const cpu = await redis.info('cpu')
  const seconds = (field: string) => Number(new RegExp(`^${field}:(.*)`, 'm').exec(cpu)![1])
  return {
    scripts: Number(/^cmdstat_evalsha:calls=(\d+)/m.exec(stats)?.[1] ?? 0),
    cpu: (seconds('used_cpu_sys') + seconds('used_cpu_user')) * 1e6,
  }
}

async function info(redis: Redis, section: string, field: string): Promise<number> {
  return Number(new RegExp(`^${field}:(\\d+)`, 'm').exec(await redis.info(section))![1])
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
