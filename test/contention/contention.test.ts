import { expect } from 'chai'
import type { Redisson } from '../../src/index'
import { createRedisson, openRedis, uniqueName } from '../kit/clients'
import { runCallers } from '../kit/contention/callers'
import { startCallersProcess } from '../kit/contention/callers-process'
import { callersSpec, LONG, runMixed } from '../kit/read-write/mixed'
import { ownServer, sharedStandalone } from '../kit/servers/index'

const SECTIONS = 10_000
/** Far beyond what a fair turn takes: a caller that waits as long has missed a message and met the lease. */
const LEASE_MS = 10_000

describe('Contention for one lock', () => {
  it('50 callers of one process lose none of 10,000 updates, without waits for a lease', async () => {
    const redisson = await createRedisson({ lockWatchdogTimeout: LEASE_MS })
    const redis = await openRedis()
    const [name, counterKey] = [uniqueName(), uniqueName('counter')]
    const started = performance.now()
    const work = { callers: 50, sectionsEach: SECTIONS / 50 }
    const report = await runCallers(redisson.getLock(name), redis, counterKey, work)
    say('1 process of 50 callers', performance.now() - started, report.longestWaitMs)
    expect(await redis.getdel(counterKey)).to.equal(String(SECTIONS))
    expect(report).to.have.property('sections', SECTIONS)
    expect(report.longestWaitMs).to.be.below(LEASE_MS)
    expect(await redis.exists(name)).to.equal(0)
  })

  it('4 processes of 4 callers lose none of 10,000 updates, without waits for a lease', async () => {
    const { url } = await sharedStandalone()
    const redis = await openRedis()
    const [lock, counterKey] = [uniqueName(), uniqueName('counter')]
    const sectionsEach = SECTIONS / 16
    const order = { url, lock, counterKey, callers: 4, sectionsEach, lockWatchdogTimeout: LEASE_MS }
    const processes = Array.from({ length: 4 }, () => startCallersProcess(order))
    try {
      await Promise.all(processes.map(({ ready }) => ready))
      const started = performance.now()
      const reports = await Promise.all(processes.map((each) => each.run()))
      const longestWaitMs = Math.max(...reports.map((report) => report.longestWaitMs))
      say('4 processes of 4 callers', performance.now() - started, longestWaitMs)
      expect(await redis.getdel(counterKey)).to.equal(String(SECTIONS))
      expect(longestWaitMs).to.be.below(LEASE_MS)
      expect(await redis.exists(lock)).to.equal(0)
    } finally {
      for (const each of processes) each.kill()
    }
  })

  for (const [kind, lockOf] of [
    ['fair', (redisson: Redisson, name: string) => redisson.getFairLock(name)],
    ['spin', (redisson: Redisson, name: string) => redisson.getSpinLock(name)],
  ] as const)
    it(`16 clients of a ${kind} lock lose none of 160 updates`, async () => {
      const redis = await openRedis()
      const [name, counterKey] = [uniqueName(), uniqueName('counter')]
      const callers = Array.from({ length: 16 }, async () => {
        const lock = lockOf(await createRedisson(), name)
        await runCallers(lock, redis, counterKey, { callers: 1, sectionsEach: 10, holdMs: 3 })
      })
      await Promise.all(callers)
      expect(await redis.getdel(counterKey)).to.equal('160')
      expect(await redis.exists(name)).to.equal(0)
    })
})

describe('A read-write lock of several processes', () => {
  const server = ownServer()

  it('No writer overlaps another, no read is torn, no caller waits for a lease', async () => {
    const spec = callersSpec(uniqueName('mixed'), LONG ? 30_000 : 4_000)
    const said = await runMixed(server.url, await openRedis(server.url), 3, spec, async () => [])
    console.log(`        ${said}`)
  })
})

function say(who: string, tookMs: number, longestWaitMs: number): void {
  const rate = Math.round((SECTIONS / tookMs) * 1000)
  console.log(`        ${who}: ${rate} sections/s, longest wait ${Math.round(longestWaitMs)} ms`)
}
