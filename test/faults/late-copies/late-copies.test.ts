import { expect } from 'chai'
import { rejection } from '../../kit/clients'
import { ForeignLock } from '../../kit/foreign-lock'
import { asleep } from '../../kit/sleepers'
import { openCluster, openSentinel, openStandalone } from '../lost-replies/setting'
import { isFree, KINDS, keysOf, lateLinks, link, setting } from './link'

const SETTINGS = {
  'a single server': openStandalone,
  'a primary behind sentinels': openSentinel,
  'a cluster': openCluster,
}

for (const [where, open] of Object.entries(SETTINGS))
  describe(`A late copy of an acquisition, at ${where}`, () => {
    lateLinks(open)

    for (const [kind, lockOf] of Object.entries(KINDS)) {
      it(`At ${where}, a late acquisition is cut: released ${kind} stays free (guarantee 4)`, async () => {
        const redisson = await link.client()
        const name = setting.newName()
        const withheld = link.withhold(name)
        const hold = await lockOf(redisson, name).acquire()
        const copy = await withheld
        expect(await keysOf(setting.admin, name)).not.to.deep.equal([])
        await hold.unlock()
        expect(await copy.arrive()).to.equal('dead')
        expect(await keysOf(setting.admin, name)).to.deep.equal([])
      })

      it(`At ${where}, a late acquisition is cut: ${kind} that was given up stays free`, async () => {
        const redisson = await link.client()
        const name = setting.newName()
        const withheld = link.withhold(name)
        const abort = new AbortController()
        link.refuse()
        const acquiring = rejection(lockOf(redisson, name).acquire({ signal: abort.signal }))
        const copy = await withheld
        abort.abort(new Error('enough'))
        expect((await acquiring).message).to.equal('enough')
        await link.accept()
        // Nothing else tells that the connection has been dealt with.
        await lockOf(redisson, name).withLock(() => {})
        expect(await copy.arrive()).to.equal('dead')
        await isFree(setting.admin, name)
      })

      it(`At ${where}, a late acquisition that found ${kind} held is cut: it stays free`, async () => {
        const redisson = await link.client()
        const name = setting.newName()
        const holder = kind === 'a read lock' ? 'a write lock' : kind
        const theirs = await KINDS[holder]!(setting.peer, name).acquire()
        const withheld = link.withhold(name)
        expect(await lockOf(redisson, name).tryLock(2_000)).to.equal(false)
        const copy = await withheld
        await theirs.unlock()
        expect(await copy.arrive()).to.equal('dead')
        expect(await keysOf(setting.admin, name)).to.deep.equal([])
      })

      // Where there are replicas, acquisitions have connections of their own: a release breaks the one for everything else.
      it(`At ${where}, a late release is cut: ${kind} was freed by the second copy`, async () => {
        const redisson = await link.client()
        const name = setting.newName()
        const hold = await lockOf(redisson, name).acquire()
        const withheld = link.withhold(name)
        const unlocking = hold.unlock()
        const copy = await withheld
        await unlocking
        expect(await keysOf(setting.admin, name)).to.deep.equal([])
        const next = await lockOf(redisson, name).acquire()
        expect(await copy.arrive()).to.equal('dead')
        expect(copy.words.some((word) => word.startsWith(`${redisson.getId()}:${hold.threadId}`))).to.equal(
          true,
        )
        await next.unlock()
      })
    }
  })

describe('A late copy of a handoff', () => {
  lateLinks()

  it('A late handoff finds its connection closed, and the lock stays free (guarantee 4)', async () => {
    const redisson = await link.client()
    const foreign = new ForeignLock(setting.admin, setting.newName())
    await foreign.take(60_000)
    const lock = redisson.getLock(foreign.name)
    const [giving, taking] = [lock.acquire(), lock.acquire()]
    await asleep(redisson, `lock ${foreign.name}`, 2)
    await foreign.release()
    const giver = await giving
    const withheld = link.withhold(foreign.name)
    await giver.unlock()
    const copy = await withheld
    expect(copy.words).to.include(`${redisson.getId()}:${giver.threadId}`)
    await (await taking).unlock()
    expect(await copy.arrive()).to.equal('dead')
    expect(await keysOf(setting.admin, foreign.name)).to.deep.equal([])
  })
})
