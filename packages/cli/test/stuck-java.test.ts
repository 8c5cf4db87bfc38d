import { expect } from 'chai'
import { createRedisson, uniqueName } from '../../../test/kit/clients'
import { describeWithJava, startJavaPeer } from '../../../test/kit/java'
import { sharedCluster, startStandalone, waitUntil } from '../../../test/kit/servers/index'
import { rlock } from './cli'

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

  it('rlock unlock wakes a waiter of Java on each kind of lock that Java has', async () => {
    const server = await startStandalone()
    const holder = await startJavaPeer({ redis: server.url })
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
        await holder.thread('a').lock(name, { type: held, leaseTime: 3_600_000 })
        const waiting = waiter.thread('b').lock(name, { type: waits })
        const tool = (...args: string[]) => rlock([...args, name, '--redis', server.url, '--json'])
        await waitUntil('it waits', async () => {
          const [{ channels }] = (await tool('show')).json
          return channels.some(({ listeners }: { listeners: number }) => listeners > 0)
        })
        const freed = await tool('unlock', '--yes')
        expect([freed.code, freed.json[0]?.result], `${held}: ${freed.err}`).to.deep.equal([0, 'freed'])
        // Without the message it would sleep for the hour of the lease.
        await waiting
        await waiter.thread('b').unlock(name, { type: waits })
      }
    } finally {
      await Promise.all([holder.kill(), waiter.kill()])
      await server.stop()
    }
  })
})
