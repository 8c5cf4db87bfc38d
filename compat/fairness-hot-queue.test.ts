import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import type { Redis } from 'ioredis'
import { openRedis, uniqueName } from '../test/kit/clients'
import { openUntilTheEnd } from '../test/kit/closing'
import type { CallersReport } from '../test/kit/contention/callers'
import { startCallersProcess } from '../test/kit/contention/callers-process'
import { type ContentionReport, describeWithJava, type JavaPeer, ownJavaPeer } from '../test/kit/java'
import { ownServer } from '../test/kit/servers/index'

/** What no process may fall short of while a queue of Node callers hands a lock around among themselves. */
const BOUND = {
  javaLongestWaitMs: 500,
  javaTurnsASecond: 5,
  nodeLongestWaitMs: 2_000,
}

const DURATION_MS = 3_000
const LEASE_MS = 30_000

/**
 * With nothing to do inside, all are busy all the time. With a little, those who wait are asleep when the lock is
 * freed, and the one who is quicker to wake may win time after time.
 */
const HOLDS_MS = [0, 5]

const MEETINGS = [
  { processes: 1, callersEach: 50, javaThreads: 1 },
  { processes: 1, callersEach: 50, javaThreads: 4 },
  { processes: 2, callersEach: 8, javaThreads: 1 },
]

describeWithJava('Java beside a hot local queue of Node', () => {
  openUntilTheEnd()
  const server = ownServer()
  const peer = ownJavaPeer(server)
  let redis: Redis

  before(async () => {
    redis = await openRedis(server.url)
    await peer.contend('warm-up', { threads: 4, durationMs: 1_000, counterKey: 'warm-up counter' })
  })

  for (const holdMs of HOLDS_MS) {
    describe(`sections of ${holdMs} ms`, () => {
      for (const meeting of MEETINGS) {
        it(describeMeeting(meeting), async () => {
          const report = await meetAtHotQueue(redis, peer, {
            ...meeting,
            holdMs,
            url: server.url,
            durationMs: DURATION_MS,
            lockWatchdogTimeout: LEASE_MS,
          })
          say(report)
          judge(report)
        })
      }
    })
  }
})

function describeMeeting({ processes, callersEach, javaThreads }: (typeof MEETINGS)[number]): string {
  const node = `${processes} Node process${processes > 1 ? 'es' : ''} of ${callersEach} callers`
  return `${node}, ${javaThreads} Java thread${javaThreads > 1 ? 's' : ''}`
}

function judge(report: HotQueueReport): void {
  expect(report.java.errors).to.deep.equal([])
  expect(report.lostUpdates, 'lost updates').to.equal(0)
  expect(report.java.max, "Java's longest wait, ms").to.be.at.most(BOUND.javaLongestWaitMs)
  expect(javaTurnsASecond(report), "Java's turns a second").to.be.at.least(BOUND.javaTurnsASecond)
  expect(nodeLongestWaitMs(report), "Node's longest wait, ms").to.be.at.most(BOUND.nodeLongestWaitMs)
}

function javaTurnsASecond({ java }: HotQueueReport): number {
  return (java.sections / DURATION_MS) * 1000
}

function nodeLongestWaitMs({ node }: HotQueueReport): number {
  return Math.max(...node.map(({ longestWaitMs }) => longestWaitMs))
}

function say(report: HotQueueReport): void {
  const { java, node } = report
  const sections = node.map((each) => each.sections).join(' + ')
  console.log(
    `          Java ${java.sections} turns, waits p50 ${java.p50} p99 ${java.p99} max ${java.max} ms; ` +
      `Node ${sections} turns, longest wait ${Math.round(nodeLongestWaitMs(report))} ms`,
  )
}

/** The queue is hot before Java comes, and stays so until Java has gone. */
const HOT_BEFORE_MS = 500
const HOT_AFTER_MS = 500

interface HotQueue {
  readonly url: string
  readonly processes: number
  readonly callersEach: number
  readonly javaThreads: number
  /** How long each section lasts, beyond the two commands that count it. */
  readonly holdMs: number
  readonly durationMs: number
  readonly lockWatchdogTimeout: number
}

interface HotQueueReport {
  readonly java: ContentionReport
  readonly node: readonly CallersReport[]
  /** Sections of all that left no trace in the counter they all raise: somebody else was inside. */
  readonly lostUpdates: number
}

/**
 * Node processes and the threads of one Java process at one lock, each asking again as soon as it is out. The
 * Java peer should be warm: its first turns measure its compiler.
 */
async function meetAtHotQueue(redis: Redis, peer: JavaPeer, queue: HotQueue): Promise<HotQueueReport> {
  const [lock, counterKey] = [uniqueName('hot'), uniqueName('counter')]
  const { url, callersEach: callers, javaThreads: threads, holdMs, lockWatchdogTimeout } = queue
  const durationMs = HOT_BEFORE_MS + queue.durationMs + HOT_AFTER_MS
  const order = { url, lock, counterKey, callers, durationMs, holdMs, lockWatchdogTimeout }
  const processes = Array.from({ length: queue.processes }, () => startCallersProcess(order))
  try {
    await Promise.all(processes.map(({ ready }) => ready))
    const running = Promise.all(processes.map((each) => each.run()))
    const java = await Promise.race([
      sleep(HOT_BEFORE_MS).then(() =>
        peer.contend(lock, { threads, durationMs: queue.durationMs, holdMs, counterKey }),
      ),
      // Only to fail with them: what they report comes later.
      running.then(() => new Promise<never>(() => {})),
    ])
    const node = await running
    const sections = node.reduce((sum, report) => sum + report.sections, java.sections)
    return { java, node, lostUpdates: sections - Number(await redis.get(counterKey)) }
  } finally {
    for (const each of processes) each.kill()
  }
}
