import { setTimeout as sleep } from 'node:timers/promises'
import { waitUntil } from '../../test/kit/servers/wait-until'
import type { Measured } from '../scenarios/scenario'
import type { Subject } from '../subjects/catalogue'
import { epochNow } from '../worker/epoch'
import type { LatchWork } from '../worker/protocol'
import type { Measuring } from './measuring'
import { atRank } from './statistics'
import { together } from './worker-process'

/** The first few are for the just-in-time compilers. */
const WARM_UP = 6
const COUNTED = 10
const QUICK = { warmUp: 2, counted: 3 }

/** From when every process is subscribed until every waiter has seen that the latch is closed. */
const SETTLING = 300

/** One latch after another: the driver opens each as Redisson does, by one script. */
const OPEN = "redis.call('del', KEYS[1]) return redis.call('publish', ARGV[1], '0')"

export async function measureLatch(
  subject: Subject,
  { processes, waiters }: { processes: number; waiters: number },
  { single, command, quick }: Pick<Measuring, 'single' | 'command' | 'quick'>,
): Promise<Measured> {
  const server = single.servers[0]!
  await server.flushall()
  const { warmUp, counted } = quick ? QUICK : { warmUp: WARM_UP, counted: COUNTED }
  const names = Array.from({ length: warmUp + counted }, (_, index) => `bench:${index}`)
  for (const name of names) await server.set(name, 1)
  const work: LatchWork = {
    ...single.address,
    scenario: 'latch',
    object: 'latch',
    subject: subject.name,
    locks: names,
    callers: waiters,
    warmupMs: 0,
    // No more than a bound: the driver says when each latch opens.
    measureMs: names.length * 5_000,
  }
  const assignments = Array.from({ length: processes }, () => ({ command: command(subject), work }))
  const { results, seen: opened } = await together(assignments, async () => {
    const moments: number[] = []
    for (const name of names) {
      const channel = `redisson_countdownlatch__channel__{${name}}`
      const isAwaited = async () => Number((await server.pubsub('NUMSUB', channel))[1]) === processes
      await waitUntil(`${processes} processes wait for the latch`, isAwaited, 20_000)
      await sleep(SETTLING)
      moments.push(epochNow())
      await server.eval(OPEN, 1, name, channel)
    }
    return moments
  })
  const took = opened.map((moment, index) => Math.max(...results.map(({ last }) => last[index]!)) - moment)
  const sorted = took.slice(warmUp).sort((a, b) => a - b)
  return { figures: { lastP50Ms: atRank(sorted, 0.5), lastMaxMs: atRank(sorted, 1) }, troubles: [] }
}
