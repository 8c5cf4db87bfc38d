import { expect } from 'chai'
import type { Redisson } from '../../src/index'
import { createRedisson, uniqueName } from '../kit/clients'
import { name, redis, redisAndName } from '../kit/each-test'
import { openProxy } from '../kit/proxies'
import { expectShape } from '../kit/read-write/sides'
import { expectNothingLeft, shape } from '../kit/read-write/state'
import type { TcpProxy } from '../kit/servers/index'
import { own } from '../kit/servers/own-server'
import { startServer } from '../kit/stand-in'
import { type ScriptSent, tapped } from '../kit/tapped-transport'

/** Commands whose answers were lost are sent again: twice applied must be once. */
describe('Commands of a read-write lock that run twice', () => {
  const server = own(startServer)()
  let proxy: TcpProxy

  redisAndName('rw', { server })
  beforeEach(async () => {
    proxy = await openProxy(server)
  })

  /** The first key of a script is its third word. */
  const aboutTheLock = (words: readonly string[]) => /^eval/i.test(words[0] ?? '') && words.includes(name)

  it('A step-down whose reply is lost is answered like the first one (C1)', async () => {
    const redisson = await createRedisson({ redis: proxy.url })
    const rw = redisson.getReadWriteLock(name)
    await warm(redisson)
    await rw.writeLock().lock({ threadId: 1 })
    await rw.readLock().lock({ threadId: 1 })
    const lost = proxy.dropNextReply(aboutTheLock)
    await Promise.all([lost, rw.writeLock().unlock({ threadId: 1 })])
    await expectShape('read', [1], [], 1)
    await rw.readLock().unlock({ threadId: 1 })
    await expectNothingLeft(redis, name)
  })

  it('Every script of a read-write lock can run twice, also while its writer reads', async () => {
    const twice = tapped(async (sent) => {
      const answer = await sent.pass()
      await sent.pass()
      return answer
    })
    const rw = (
      await createRedisson({ redis: server.url, lockWatchdogTimeout: 900 }, { transport: twice })
    ).getReadWriteLock(name)
    const [read, write] = [rw.readLock(), rw.writeLock()]
    const who = { threadId: 1 }
    await write.lock(who)
    await write.lock(who)
    await read.lock(who)
    await read.lock(who)
    await expectShape('write', [2], [2], 2)
    expect(await redis.pttl(name), 'the lease was added once').to.be.at.most(1_800)
    await write.unlock(who)
    await read.unlock(who)
    await expectShape('write', [1], [1], 1)
    await write.unlock(who)
    await expectShape('read', [1], [], 1)
    await read.unlock(who)
    await expectNothingLeft(redis, name)
    await read.lock(who)
    expect(await read.forceUnlock()).to.equal(true)
    await write.lock({ threadId: 2 })
    expect(await write.forceUnlock()).to.equal(true)
    await expectNothingLeft(redis, name)
  })

  it('Late copies of old commands of either side change no newer hold (guarantee 4)', async () => {
    const old: ScriptSent[] = []
    const noting = tapped((sent) => {
      if (/release|reenter|renew/.test(sent.name)) old.push(sent)
      return sent.pass()
    })
    const redisson = await createRedisson({ redis: server.url }, { transport: noting })
    const rw = redisson.getReadWriteLock(name)
    const who = { threadId: 1 }
    await rw.writeLock().lock(who)
    await rw.writeLock().lock(who)
    await rw.readLock().lock(who)
    await rw.readLock().lock(who)
    for (const lock of [rw.readLock(), rw.writeLock(), rw.writeLock(), rw.readLock()]) await lock.unlock(who)
    await rw.readLock().lock({ threadId: 2 })
    expect(await rw.readLock().forceUnlock()).to.equal(true)
    await rw.writeLock().lock({ threadId: 2 })
    expect(await rw.writeLock().forceUnlock()).to.equal(true)
    expect(old).to.have.length(8)
    for (const newer of [rw.readLock(), rw.writeLock()]) {
      await newer.lock(who)
      const before = await shape(redis, name)
      for (const late of old.slice()) await late.pass()
      expect(await shape(redis, name)).to.deep.equal(before)
      await newer.unlock(who)
    }
    await expectNothingLeft(redis, name)
  })

  async function warm(redisson: Redisson): Promise<void> {
    const rw = redisson.getReadWriteLock(uniqueName('warm'))
    for (const lock of [rw.readLock(), rw.writeLock()]) {
      await lock.lock({ threadId: 1 })
      await lock.lock({ threadId: 1 })
      await lock.unlock({ threadId: 1 })
      await lock.unlock({ threadId: 1 })
    }
  }
})
