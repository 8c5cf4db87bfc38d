// The process that is measured. It is bundled and run by plain node, see driver/programs.ts.

import { createInterface } from 'node:readline'
import type { OpenSubject, SubjectClient } from '../subjects/subject'
import { prepareCallers } from './callers'
import type { Start, Work } from './protocol'
import {
  prepareFirstCycles,
  prepareHandoff,
  prepareHeldLocks,
  prepareIdleWaiters,
  prepareLatch,
} from './works'

/** Loaded when asked for: one peer's module must not weigh on the process that measures another. */
const SUBJECTS: Record<string, () => Promise<OpenSubject>> = {
  limit: async () => (await import('../subjects/baselines')).limit,
  'message-limit': async () => (await import('../subjects/baselines')).messageLimit,
  'set-nx-polling': async () => (await import('../subjects/baselines')).setNxPolling,
  rlock: async () => (await import('../subjects/rlock')).rlock,
  'node-redisson': async () => (await import('../subjects/peers')).nodeRedisson,
  'redis-semaphore': async () => (await import('../subjects/peers')).redisSemaphore,
  redlock: async () => (await import('../subjects/peers')).redlock,
  'sesamecare-redlock': async () => (await import('../subjects/peers')).sesamecareRedlock,
}

/** Makes ready; what it answers does the work from the given time on. */
function prepare(client: SubjectClient, work: Work): (start: number) => Promise<unknown> {
  switch (work.scenario) {
    case 'throughput':
    case 'read-write':
      return prepareCallers(client, work)
    case 'handoff':
      return prepareHandoff(client, work)
    case 'idle-waiters':
      return prepareIdleWaiters(client, work)
    case 'held-locks':
      return prepareHeldLocks(client, work)
    case 'first-cycles':
      return prepareFirstCycles(client, work)
    case 'latch':
      return prepareLatch(client, work)
  }
}

async function main(): Promise<void> {
  const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]()
  const next = async <T>() => JSON.parse((await lines.next()).value) as T
  const work = await next<Work>()
  const load = SUBJECTS[work.subject]
  if (!load) throw new Error(`no subject ${work.subject}`)
  const client = await (await load())(work)
  const run = prepare(client, work)
  await say({ ready: true })
  const { start } = await next<Start>()
  const result = await run(start)
  await say({ result })
  // What still waits or is held goes with the process: to close it in order could take for ever.
  process.exit(0)
}

function say(message: object): Promise<void> {
  return new Promise((resolve) => process.stdout.write(`${JSON.stringify(message)}\n`, () => resolve()))
}

main().catch((error) => {
  console.error(error)
  process.exit(1)
})
