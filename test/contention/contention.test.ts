import { expect } from 'chai'
import { sharedStandalone } from '../servers'
import { closeAll, createRedisson, openRedis, uniqueName } from '../support/clients'
import { runFlows } from './flows'
import { startFlowsProcess } from './flows-process'

const SECTIONS = 10_000
/** Far beyond what a fair turn takes: whoever waits as long has missed a message and met the lease. */
const LEASE_MS = 10_000

describe('contention: no update is lost and nobody waits as long as a lease', () => {
  afterEach(closeAll)

  it('50 flows of one process through one lock object, 10,000 sections', async () => {
    const redisson = await createRedisson({ lockWatchdogTimeout: LEASE_MS })
    const redis = await openRedis()
    const [name, counterKey] = [uniqueName(), uniqueName('counter')]
    const started = performance.now()
    const work = { flows: 50, sectionsEach: SECTIONS / 50 }
    const report = await runFlows(redisson.getLock(name), redis, counterKey, work)
    say('1 process of 50 flows', performance.now() - started, report.longestWaitMs)
    expect(await redis.getdel(counterKey)).to.equal(String(SECTIONS))
    expect(report).to.have.property('sections', SECTIONS)
    expect(report.longestWaitMs).to.be.below(LEASE_MS)
    expect(await redis.exists(name)).to.equal(0)
  })

  it('4 processes of 4 flows, 10,000 sections', async () => {
    const { url } = await sharedStandalone()
    const redis = await openRedis()
    const [lock, counterKey] = [uniqueName(), uniqueName('counter')]
    const sectionsEach = SECTIONS / 16
    const order = { url, lock, counterKey, flows: 4, sectionsEach, lockWatchdogTimeout: LEASE_MS }
    const processes = Array.from({ length: 4 }, () => startFlowsProcess(order))
    try {
      await Promise.all(processes.map(({ ready }) => ready))
      const started = performance.now()
      const reports = await Promise.all(processes.map((each) => each.run()))
      const longestWaitMs = Math.max(...reports.map((report) => report.longestWaitMs))
      say('4 processes of 4 flows', performance.now() - started, longestWaitMs)
      expect(await redis.getdel(counterKey)).to.equal(String(SECTIONS))
      expect(longestWaitMs).to.be.below(LEASE_MS)
      expect(await redis.exists(lock)).to.equal(0)
    } finally {
      for (const each of processes) each.kill()
    }
  })
})

function say(who: string, tookMs: number, longestWaitMs: number): void {
  const rate = Math.round((SECTIONS / tookMs) * 1000)
  console.log(`        ${who}: ${rate} sections/s, longest wait ${Math.round(longestWaitMs)} ms`)
}
