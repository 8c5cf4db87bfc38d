import { expect } from 'chai'
import type { Redis } from 'ioredis'
import { Program } from '../program'
import { type CallersReport, type CallersSpec, judge } from './callers'
import { expectNothingLeft } from './state'

/** How long anybody may wait: less than a lease, or the waiter has slept through its wake-up. */
export const LEASE_MS = 6_000
export const LONG = process.env.RLOCK_LONG === '1'

/** 8 readers and 2 writers a process. */
export function callersSpec(lock: string, durationMs: number): CallersSpec {
  return {
    who: 'node',
    lock,
    readers: 8,
    writers: 2,
    durationMs,
    holdMs: [1, 4],
    // Readers that never pause would keep writers out for ever, here as in Java.
    readerPauseMs: [80, 240],
    writerPauseMs: [10, 50],
    counterKey: `${lock}:first`,
    twinKey: `${lock}:second`,
    logStream: `${lock}:log`,
  }
}

/** Runs Node processes, and whatever else is given, through one lock at once, and judges by the server's log. */
export async function runMixed(
  url: string,
  redis: Redis,
  processes: number,
  spec: CallersSpec,
  others: () => Promise<CallersReport[]>,
): Promise<string> {
  const programs = Array.from(
    { length: processes },
    (_, i) =>
      new Program(
        'read-write-callers.ts',
        url,
        String(LEASE_MS),
        JSON.stringify({ ...spec, who: `node-${i + 1}` }),
      ),
  )
  for (const program of programs) expect(await program.line()).to.equal('ready')
  for (const program of programs) program.say('go')
  const reports = await Promise.all([
    others(),
    ...programs.map(async (program) => [JSON.parse(await program.line()) as CallersReport]),
  ]).then((all) => all.flat())
  await Promise.all(programs.map((program) => program.exit))

  const verdict = await judge(redis, spec.logStream)
  expect(verdict.company, 'writers with company').to.deep.equal([])
  expect(verdict.torn, 'torn reads').to.deep.equal([])
  expect(verdict.inside).to.equal(0)
  expect(verdict.mostReadersTogether, 'readers share').to.be.greaterThan(1)
  expect([verdict.reads, verdict.writes]).to.deep.equal([
    sum(reports.map((each) => each.reads)),
    sum(reports.map((each) => each.writes)),
  ])
  expect(await redis.mget(spec.counterKey, spec.twinKey), 'no update is lost').to.deep.equal([
    String(verdict.writes),
    String(verdict.writes),
  ])
  const longestRead = Math.max(...reports.map((each) => each.longestReadWaitMs))
  const longestWrite = Math.max(...reports.map((each) => each.longestWriteWaitMs))
  expect(Math.max(longestRead, longestWrite), 'the longest wait').to.be.below(LEASE_MS)
  for (const report of reports) expect(Math.min(report.reads, report.writes)).to.be.greaterThan(0)
  await redis.del(spec.counterKey, spec.twinKey, spec.logStream)
  await expectNothingLeft(redis, spec.lock)
  return (
    `${verdict.reads} reads (${verdict.mostReadersTogether} together at most), ${verdict.writes} writes; ` +
    `longest wait ${Math.round(longestRead)} ms to read, ${Math.round(longestWrite)} ms to write`
  )
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0)
}
