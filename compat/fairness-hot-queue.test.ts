import { expect } from 'chai'
import type { Redis } from 'ioredis'
import { openRedis } from '../test/kit/clients'
import { openUntilTheEnd } from '../test/kit/closing'
import { describeWithJava, ownJavaPeer } from '../test/kit/java'
import { ownServer } from '../test/kit/servers/index'
import { type HotQueueReport, meetAtHotQueue } from './support/hot-queue'

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
