import { createHistogram, monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Redisson } from '../../../../src/index'
import { leftIn } from '../../../kit/left-in'
import { listenersAround } from '../../../kit/listeners-around'
import type { Footprint, Phase, Turns } from '../messages'
import { ask } from './parent'

/** Subscriptions linger for up to a second after their last waiter, the timer that looks after them for three. */
const UNTIL_QUIET = 3_500

/** What this process consists of once everything of the work before has had its time to go. */
export async function footprint(redisson: Redisson): Promise<Footprint> {
  await sleep(UNTIL_QUIET)
  const server = await ask('view')
  collect()
  const { heapUsed } = process.memoryUsage()
  const handles: Record<string, number> = {}
  for (const kind of process.getActiveResourcesInfo()) handles[kind] = (handles[kind] ?? 0) + 1
  return {
    heapUsed,
    handles,
    listeners: listenersAround(redisson),
    left: leftIn(redisson),
    server,
  }
}

/** Bytes of the heap in use after two full collections. */
export function heapUsed(): number {
  collect()
  return process.memoryUsage().heapUsed
}

// Once for what is garbage, and again for what only its finalizers let go of.
function collect() {
  const gc = globalThis.gc as (() => void) | undefined
  if (!gc) throw new Error('the client process must be started with --expose-gc')
  gc()
  gc()
}

/** Does the work and measures what it costs: time on the processor, and how long it keeps the event loop. */
export async function phase(work: () => Promise<unknown>): Promise<Phase> {
  const delay = monitorEventLoopDelay({ resolution: 1 })
  const turns = processorTimeOfTurns()
  delay.enable()
  // It counts from the first firing of its timer on.
  await sleep(5)
  const [cpu, started] = [process.cpuUsage(), performance.now()]
  await work()
  const ms = performance.now() - started
  const { user, system } = process.cpuUsage(cpu)
  await sleep(5)
  delay.disable()
  const percentile = (percent: number) => delay.percentile(percent) / 1e6
  return {
    seconds: ms / 1_000,
    cpu: (user + system) / 1_000 / ms,
    delay: {
      p50: percentile(50),
      p99: percentile(99),
      p999: percentile(99.9),
      max: delay.max / 1e6,
    },
    turns: turns(),
  }
}

/** Looks once a turn, until the returned function is called, how much time on a processor it took. */
function processorTimeOfTurns(): () => Turns {
  const times = createHistogram()
  let last = process.cpuUsage()
  const timer = setInterval(() => {
    const now = process.cpuUsage()
    times.record(Math.max(now.user + now.system - last.user - last.system, 1))
    last = now
  }, 1)
  return () => {
    clearInterval(timer)
    return { p999: times.percentile(99.9) / 1e3, max: times.max / 1e3 }
  }
}

/** Runs `work(0)` to `work(count - 1)`, so many at once. */
export async function spread(
  count: number,
  atOnce: number,
  work: (index: number) => Promise<unknown>,
): Promise<void> {
  let next = 0
  const caller = async () => {
    while (next < count) await work(next++)
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, count) }, caller))
}
