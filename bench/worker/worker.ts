// The process that is measured. It is bundled and run by plain node, see driver/programs.ts.

import { createInterface } from 'node:readline'
import type { SubjectClient } from '../subjects/subject'
import { prepareCallers } from './callers'
import { prepareFirstCycles } from './first-cycles'
import { prepareHandoff } from './handoff'
import { prepareHeldLocks } from './held-locks'
import { prepareIdleWaiters } from './idle-waiters'
import { prepareLatch } from './latch'
import { openSubject } from './open-subject'
import type { Start, Work } from './protocol'

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
  const client = await openSubject(work)
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
