import { expect } from 'chai'
import { elect, type Leader } from '../packages/recipes/src/index'
import type { Redisson } from '../src/index'
import { createRedisson, uniqueName } from '../test/kit/clients'
import { openUntilTheEnd } from '../test/kit/closing'
import { describeWithJava, ownJavaPeer, REDISSON_VERSIONS } from '../test/kit/java'
import { ownServer, waitUntil } from '../test/kit/servers/index'
import { javaObject } from './support/java-methods'

for (const version of [REDISSON_VERSIONS.newest])
  describeWithJava(`Java ${version} and Node in one election`, () => {
    openUntilTheEnd()
    const server = ownServer()
    const java = ownJavaPeer(server, { version })
    let node: Redisson

    before(async () => {
      node = await createRedisson({ redis: server.url })
    })

    it('Java leads while it holds the fenced lock, then a candidate, then Java; terms rise', async () => {
      const name = uniqueName('election')
      const theirs = javaObject(java.thread('a'), 'getFencedLock', name)
      expect(await theirs('lockAndGetToken')).to.equal(1)
      const election = elect(node, name, { label: 'node' })
      await waitUntil('it waits', () => node.waiters().some(({ key }) => key === name))
      const first = (await election.leader())!
      expect(first).to.include({ term: 1, since: undefined })
      expect(first.label).to.match(/^[0-9a-f-]{36}:\d+$/)
      const seen: Leader[] = []
      void (async () => {
        for await (const leader of election.observe()) seen.push(leader)
      })()
      await theirs('unlock')
      await waitUntil('the candidate leads', () => election.isLeader)
      expect(election.term).to.equal(2)
      // An observer may miss a leader that resigns before it has looked.
      await waitUntil('the observer sees the candidate', () => seen.some(({ label }) => label === 'node'))
      const again = theirs('lockAndGetToken')
      await election.resign()
      expect(await again).to.equal(3)
      expect(election.isLeader).to.equal(false)
      expect((await election.leader())!.term).to.equal(3)
      await theirs('unlock')
      await waitUntil('the candidate leads again', () => election.isLeader)
      expect(election.term).to.be.greaterThan(3)
    })
  })
