import { expect } from 'chai'
import { openRedis, uniqueName } from '../test/kit/clients'
import { describeWithJava, ownJavaPeer } from '../test/kit/java'
import type { CallersReport } from '../test/kit/read-write/callers'
import { callersSpec, LEASE_MS, LONG, runMixed } from '../test/kit/read-write/mixed'
import { ownServer } from '../test/kit/servers/index'

describeWithJava('a read-write lock among three Node processes and a Java one', () => {
  const server = ownServer()
  const peer = ownJavaPeer(server, { settings: { lockWatchdogTimeout: LEASE_MS } })

  it('A writer is always alone, every read is consistent, and no caller waits for a lease', async () => {
    const spec = callersSpec(uniqueName('mixed'), LONG ? 30_000 : 6_000)
    const java = async (): Promise<CallersReport[]> => {
      const { durationMs, holdMs, counterKey, twinKey, logStream } = spec
      const common = { durationMs, holdMs, counterKey, twinKey, logStream }
      const [reads, writes] = await Promise.all([
        peer.contend(spec.lock, {
          ...common,
          type: 'read',
          threads: spec.readers,
          pauseMs: spec.readerPauseMs,
        }),
        peer.contend(spec.lock, {
          ...common,
          type: 'write',
          threads: spec.writers,
          pauseMs: spec.writerPauseMs,
        }),
      ])
      expect([...reads.errors, ...writes.errors]).to.deep.equal([])
      return [
        {
          reads: reads.sections,
          writes: writes.sections,
          longestReadWaitMs: reads.max,
          longestWriteWaitMs: writes.max,
        },
      ]
    }
    const said = await runMixed(server.url, await openRedis(server.url), 3, spec, java)
    console.log(`        ${said}`)
  })
})
