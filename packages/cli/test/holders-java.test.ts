import { expect } from 'chai'
import { openRedis, uniqueName } from '../../../test/kit/clients'
import { describeWithJava, ownJavaPeer } from '../../../test/kit/java'
import { ownServer } from '../../../test/kit/servers/index'
import { rlock } from './cli'

const NEGATIVE = '-4611686018427387905'
const LARGE = '9223372036854775807'
const HOUR = { leaseTime: 3_600_000 }

describeWithJava('The command rlock and holders of Java', function () {
  this.timeout(120_000)
  const server = ownServer()
  const java = ownJavaPeer(server)

  const run = (...args: string[]) => rlock([...args, '--redis', server.url, '--json'])

  it('rlock shows and frees holders with the 64-bit thread ids of reactive users (guarantee 2)', async () => {
    const thread = java.thread('a')
    const read = { ...HOUR, type: 'read' as const }
    const [lock, shared] = [uniqueName(), uniqueName()]
    await thread.lockAs(lock, NEGATIVE, HOUR)
    for (const id of [NEGATIVE, LARGE, '7']) await thread.lockAs(shared, id, read)

    const [held] = (await run('ls', lock)).json
    expect(held.holders.map(({ owner, threadId }: never) => [owner, threadId])).to.deep.equal([
      [`${java.clientId}:${NEGATIVE}`, NEGATIVE],
    ])
    const [{ object }] = (await run('show', shared)).json
    expect(object.holders.map(({ threadId }: { threadId: unknown }) => threadId)).to.have.members([
      NEGATIVE,
      LARGE,
      7,
    ])
    const one = `${java.clientId}:${NEGATIVE}`
    expect((await run('unlock', shared, '--yes', '--owner', one)).json[0].result).to.equal(
      'others hold it still',
    )
    const waiting = java.thread('b').lock(lock)
    expect((await run('unlock', lock, '--yes')).json[0].result).to.equal('freed')
    await waiting
    await java.thread('b').unlock(lock)
    for (const id of [LARGE, '7']) await thread.unlockAs(shared, id, { type: 'read' })
    const redis = await openRedis(server.url)
    expect(await redis.exists(shared)).to.equal(0)
  })

  it('rlock unlock --owner frees one of 600 readers of Java, and the others keep a writer out', async () => {
    const name = uniqueName()
    const thread = java.thread('a')
    const ids = Array.from({ length: 600 }, (_, at) => String(at * 7_919 - 2_000_000))
    await Promise.all(ids.map((id) => thread.lockAs(name, id, { ...HOUR, type: 'read' })))
    const [{ kind, mode, holders, moreHolders }] = (await run('ls', name)).json
    expect([kind, mode, holders.length, moreHolders]).to.deep.equal(['read-write', 'read', 600, 0])
    const { json } = await run('unlock', name, '--yes', '--owner', `${java.clientId}:${ids[0]}`)
    expect(json[0].result).to.equal('others hold it still')
    const redis = await openRedis(server.url)
    expect(await redis.hlen(name)).to.equal(600)
    const writer = java.thread('b')
    expect(await writer.tryLock(name, { type: 'write' })).to.equal(false)
    const waiting = writer.lock(name, { type: 'write' })
    expect((await run('unlock', name, '--yes')).json[0].result).to.equal('freed')
    await waiting
    await writer.unlock(name, { type: 'write' })
  })

  it('rlock doctor --fix leaves the timeout of a reader of Java, whatever its lock is called', async () => {
    const reader = java.thread('a')
    for (const name of ['{user:1}', '{a}x{b}', 'user:2', 'x{y', '{a}b}']) {
      await reader.lock(name, { ...HOUR, type: 'read' })
      const { json, err } = await run('doctor', '--fix')
      expect(
        json.filter(({ id }) => id === 'orphaned-timeout'),
        `${name} ${err}`,
      ).to.deep.equal([])
      expect(await java.thread('b').tryLock(name, { type: 'write' }), name).to.equal(false)
      await reader.unlock(name, { type: 'read' })
      expect(await java.thread('b').tryLock(name, { type: 'write' }), name).to.equal(true)
      await java.thread('b').unlock(name, { type: 'write' })
    }
  })
})
