import { expect } from 'chai'
import type { Redisson, RLock } from '../../src/index'
import { createRedisson, openRedis, uniqueName } from '../kit/clients'
import { openProxy } from '../kit/proxies'
import { sharedStandalone, waitUntil } from '../kit/servers/index'
import { tapped } from '../kit/tapped-transport'

const SIDES: Record<
  string,
  { of(redisson: Redisson, name: string): RLock; rival(redisson: Redisson, name: string): RLock }
> = {
  lock: { of: (redisson, name) => redisson.getLock(name), rival: (redisson, name) => redisson.getLock(name) },
  'write lock': {
    of: (redisson, name) => redisson.getReadWriteLock(name).writeLock(),
    rival: (redisson, name) => redisson.getReadWriteLock(name).writeLock(),
  },
  'read lock': {
    of: (redisson, name) => redisson.getReadWriteLock(name).readLock(),
    rival: (redisson, name) => redisson.getReadWriteLock(name).writeLock(),
  },
}

describe('A partial release without an answer', () => {
  for (const [side, { of, rival }] of Object.entries(SIDES))
    it(`A partial release of a ${side} with a lost reply leaves no longer lease than needed`, async () => {
      const server = await sharedStandalone()
      const proxy = await openProxy(server)
      const redisson = await createRedisson({ redis: `redis://127.0.0.1:${proxy.port}` })
      const other = await createRedisson({ redis: server.url })
      const name = uniqueName('partial')
      // The scripts are known to the server: what is sent runs, though no answer comes.
      await redisson.run(() =>
        of(redisson, uniqueName()).withLock((hold) => of(redisson, hold.lockName).withLock(() => {})),
      )
      await redisson.run(async () => {
        const outer = await of(redisson, name).acquire({ leaseTime: 1_500 })
        const inner = await of(redisson, name).acquire()
        proxy.stallReplies()
        const released = inner.unlock().catch(() => {})
        const entered = await rival(other, name).acquire()
        expect(outer.isHeld, 'both inside').to.equal(false)
        expect(outer.signal.aborted).to.equal(true)
        await entered.unlock()
        proxy.resume()
        await released
      })
    })

  it('A late copy of a re-entry of a read lock takes off none of the newer levels (guarantee 4)', async () => {
    const server = await sharedStandalone()
    const redis = await openRedis(server.url)
    const copies: (() => Promise<unknown>)[] = []
    const transport = tapped((sent) => {
      if (!sent.bySource && sent.name === 'read-lock/reenter') copies.push(sent.pass)
      return sent.pass()
    })
    const redisson = await createRedisson({ redis: server.url }, { transport })
    const name = uniqueName('late-reentry')
    await redisson.run(async () => {
      const lock = redisson.getReadWriteLock(name).readLock()
      for (let level = 0; level < 3; level++) await lock.lock(60_000)
      await waitUntil('a re-entry was sent by its hash', () => copies.length > 0)
      await copies[0]!()
      expect(Object.values(await redis.hgetall(name))).to.include('3')
      const reader = await createRedisson({ redis: server.url })
      await reader
        .getReadWriteLock(name)
        .readLock()
        .withLock(() => {})
      expect(await redis.pttl(name)).to.be.greaterThan(50_000)
      for (let level = 0; level < 3; level++) await lock.unlock()
    })
    expect(await redis.keys(`*${name}*`)).to.deep.equal([])
  })
})
