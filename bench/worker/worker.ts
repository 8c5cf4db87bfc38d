// The process that is measured. It is bundled and run by plain node, see driver/programs.ts.

import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { openSubject } from './open-subject'
import type { Start, Work } from './protocol'
import { prepareThroughput } from './throughput'

/** Does nothing yet but connect; the answer does the work from the given time on. */
type Prepare<W extends Work> = (client: Awaited<ReturnType<typeof openSubject>>, work: W) => Run
type Run = (start: number) => Promise<unknown>

const PREPARE: { [W in Work as W['scenario']]: Prepare<W> } = { throughput: prepareThroughput }

async function main(): Promise<void> {
  const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]()
  const next = async <T>() => JSON.parse((await lines.next()).value) as T
  const work = await next<Work>()
  const client = await openSubject(work.subject, work.redis)
  const run = PREPARE[work.scenario](client, work)
  await say({ ready: true })
  const { start } = await next<Start>()
  const result = await run(start)
  await say({ result })
  // What still waits or is held goes with the process; a peer's close could wait for it for ever.
  await Promise.race([client.close(), sleep(200)])
  process.exit(0)
}

function say(message: object): Promise<void> {
  return new Promise((resolve) => process.stdout.write(`${JSON.stringify(message)}\n`, () => resolve()))
}

main().catch((error) => {
  console.error(error)
  process.exit(1)
})
