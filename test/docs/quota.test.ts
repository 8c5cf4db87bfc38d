import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { createRedisson, openRedis } from '../kit/clients'
import { ownServer } from '../kit/servers/index'

/** What docs/guides/runtimes.md says to users whose Redis counts commands. */
describe('What a client costs where commands are counted', () => {
  const server = ownServer()

  it('An idle client sends nothing, and a lock and a permit cost two commands each', async () => {
    const redisson = await createRedisson({ redis: server.url })
    const redis = await openRedis(server.url)
    const lock = redisson.getLock('order:42')
    const semaphore = redisson.getSemaphore('downloads')
    await semaphore.trySetPermits(1)
    const use = async () => {
      await lock.withLock(async () => {})
      await semaphore.withPermits(async () => {})
    }
    await use() // The server has the scripts from now on.

    /** How often the server ran each command, but for the INFO of this test. */
    const calls = async () => {
      const stats = [...(await redis.info('commandstats')).matchAll(/^cmdstat_(\S+):calls=(\d+)/gm)]
      return new Map(stats.map(([, name, count]) => [name!, Number(count)]))
    }
    const during = async (work: () => Promise<void>) => {
      const before = await calls()
      await work()
      const after = [...(await calls())].filter(([name]) => name !== 'info')
      return Object.fromEntries(
        after
          .map(([name, count]) => [name, count - (before.get(name) ?? 0)])
          .filter(([, count]) => count !== 0),
      )
    }
    expect(await during(() => sleep(1_000))).to.deep.equal({})
    const sent = await during(use)
    expect(sent.evalsha).to.equal(4)
    for (const name of ['subscribe', 'ping', 'eval']) expect(sent).to.not.have.property(name)
  })
})
