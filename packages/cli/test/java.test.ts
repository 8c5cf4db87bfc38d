import { expect } from 'chai'
import { createRedisson, openRedis, uniqueName } from '../../../test/kit/clients'
import { describeWithJava, ownJavaPeer, startJavaPeer } from '../../../test/kit/java'
import { ownServer, sharedCluster, waitUntil } from '../../../test/kit/servers/index'
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

  it('rlock unlock wakes a waiter of Java on each kind of lock that Java has', async () => {
    const waiter = await startJavaPeer({ redis: server.url })
    try {
      for (const [held, waits] of [
        ['fair', 'fair'],
        ['fenced', 'fenced'],
        ['read', 'write'],
        ['write', 'read'],
        ['write', 'write'],
      ] as const) {
        const name = uniqueName()
        await java.thread('a').lock(name, { type: held, leaseTime: 3_600_000 })
        const waiting = waiter.thread('b').lock(name, { type: waits })
        await waitUntil('it waits', async () => {
          const [{ channels }] = (await run('show', name)).json
          return channels.some(({ listeners }: { listeners: number }) => listeners > 0)
        })
        const freed = await run('unlock', name, '--yes')
        expect([freed.code, freed.json[0]?.result], `${held}: ${freed.err}`).to.deep.equal([0, 'freed'])
        // Without the message it would sleep for the hour of the lease.
        await waiting
        await waiter.thread('b').unlock(name, { type: waits })
      }
    } finally {
      await waiter.kill()
    }
  })
})

describeWithJava('A stuck lock of a Java service', function () {
  this.timeout(60_000)

  it('A stuck lock of a killed Java service in a cluster is found, explained and freed', async () => {
    const { nodes } = await sharedCluster()
    const urls = nodes.map(({ host, port }) => `redis://${host}:${port}`)
    const [first] = urls
    const tool = (...args: string[]) => rlock([...args, '--redis', first!, '--cluster', '--json'])
    const addresses = nodes.map(({ host, port }) => `${host}:${port}`)
    const java = await startJavaPeer({ redis: { mode: 'cluster', addresses } })
    const other = await startJavaPeer({ redis: { mode: 'cluster', addresses } })
    const name = uniqueName()
    try {
      // A lease of an hour: without the tool the waiters would wait as long.
      await java.thread('a').lock(name, { leaseTime: 3_600_000 })
      const client = await createRedisson({ redis: { nodes: urls }, label: 'orders' })
      const waiting = client.getLock(name).acquire()
      const javaWaits = other.thread('b').lock(name)
      await waitUntil('both wait', async () => (await tool('ls', name)).json[0]?.waiting.processes === 2)
      await java.kill()

      const [found] = (await tool('ls', name)).json
      expect(found.holders[0].clientId).to.equal(java.clientId)
      expect(found.waiting).to.deep.equal({ processes: 2, callers: 1, queue: null })

      const [shown] = (await tool('show', name)).json
      const { label, waits } = shown.processes.find((each: { waits: unknown[] }) => each.waits.length > 0)
      expect([label, waits[0].key]).to.deep.equal(['orders', name])
      expect(shown.explanation.join(' ')).to.contain('no connection').and.to.contain('is not renewed')

      const freed = await tool('unlock', name, '--yes', '--owner', found.holders[0].owner)
      expect([freed.code, freed.json[0].result]).to.deep.equal([0, 'freed'])
      // Both get it, one after the other: the message wakes Java as well.
      await Promise.all([
        waiting.then((hold) => hold.unlock()),
        javaWaits.then(() => other.thread('b').unlock(name)),
      ])
    } finally {
      await Promise.all([java.kill(), other.kill()])
    }
  })
})
