import { expect } from 'chai'
import calculateSlot from 'cluster-key-slot'
import { Cluster, Redis } from 'ioredis'
import { createRedisson, uniqueName } from '../clients'
import {
  freshCluster,
  freshServer,
  inContainersWherePossible,
  type SentinelSetup,
  sameAddress,
  sharedCluster,
  sharedSentinel,
  sharedStandalone,
  startStandalone,
  waitUntil,
} from '../servers/index'
import { connectTo, rejects, staysSilent, track } from '../servers/test-clients'

// The one file of `npm test` whose servers run in containers, wherever an engine answers.
describe('Servers of the kit', () => {
  inContainersWherePossible()

  describe('A standalone server', () => {
    it('One standalone server serves all tests that ask for it', async () => {
      const [first, second] = await Promise.all([sharedStandalone(), sharedStandalone()])
      expect(first).to.equal(second)
      expect(await connectTo(first.url).ping()).to.equal('PONG')
    })

    it('A standalone server asks for its password, and its url carries it', async () => {
      const server = await freshServer({
        requirepass: 'p@ss word',
        config: ['user alice on >secret ~* &* +@all'],
      })
      const { host, port } = server
      expect((await rejects(connectTo(`redis://${host}:${port}`).get('key'))).message).to.contain('NOAUTH')
      expect(await connectTo(server.url).ping()).to.equal('PONG')
      expect(await connectTo(`redis://alice:secret@${host}:${port}`).ping()).to.equal('PONG')
    })

    it('A standalone server keeps what its log has over a restart, and forgets it on request', async () => {
      const server = await freshServer({ appendonly: true })
      const client = connectTo(server.url)
      await client.set('key', 'value')
      await server.restart({ keepData: true })
      expect(await client.get('key')).to.equal('value')
      await server.restart({ keepData: false })
      expect(await client.get('key')).to.equal(null)
    })

    it('A standalone server is silent while paused and answers afterwards', async () => {
      const server = await freshServer()
      const client = connectTo(server.url)
      await client.ping()
      await server.pause()
      const answer = client.ping()
      expect(await staysSilent(answer)).to.equal(true)
      await server.resume()
      expect(await answer).to.equal('PONG')
    })

    it('A standalone server tells why it does not start', async () => {
      const failure = await rejects(startStandalone({ config: ['no-such-setting yes'] }))
      expect(failure.message).to.contain('no-such-setting')
    })
  })

  describe('A Sentinel setup', () => {
    let setup: SentinelSetup

    before(async () => {
      setup = await sharedSentinel()
    })

    it('A Sentinel setup moves the primary on failover, and its clients follow', async () => {
      const before = await setup.primary()
      const client = track(new Redis({ sentinels: [...setup.sentinels], name: setup.name }))
      await client.set('key', 'value')
      await client.wait(2, 1000)
      await setup.failover()
      expect(sameAddress(before, await setup.primary())).to.equal(false)
      await waitUntil(
        'the client writes to the new primary',
        async () => (await client.set('key', 'new')) === 'OK',
      )
    })

    it('A Sentinel setup replaces a primary that was killed', async () => {
      const killed = await setup.killPrimary()
      await setup.waitForNewPrimary(killed)
      await setup.nodes.find((node) => sameAddress(node, killed))!.restart()
    })
  })

  describe('A cluster', () => {
    it('A cluster answers for every shard, and moves a slot with its keys while it serves', async () => {
      const setup = await sharedCluster()
      const cluster = track(new Cluster([...setup.nodes]))
      const names = ['a', 'b', 'c', 'd', 'e', 'f']
      for (const name of names) await cluster.set(name, name)
      const owners = new Set(await Promise.all(names.map((name) => setup.ownerOf(calculateSlot(name)))))
      expect(owners.size).to.equal(3)

      const slot = calculateSlot('a')
      const target = (setup.nodes.indexOf(await setup.ownerOf(slot)) + 1) % 3
      await setup.migrateSlot(slot, target, async () => {
        expect(await cluster.get('a'), 'by way of ASK').to.equal('a')
      })
      expect(await setup.ownerOf(slot)).to.equal(setup.nodes[target])
      expect(await connectTo(setup.nodes[target]!.url).get('a')).to.equal('a')
      expect(await cluster.get('a')).to.equal('a')
    })

    it('A cluster hands a shard to its replica, whether or not the primary lives', async () => {
      const setup = await freshCluster({ replicas: 1 })
      expect(await setup.ownerOf(0)).to.equal(setup.nodes[0])
      await setup.failover(0)
      expect(await setup.ownerOf(0)).to.equal(setup.nodes[3])
      const last = calculateSlot('a')
      const shard = setup.nodes.indexOf(await setup.ownerOf(last))
      await setup.nodes[shard]!.kill()
      await setup.failover(shard)
      expect(await setup.ownerOf(last)).to.equal(setup.nodes[3 + shard])
    })
  })

  describe('A lock on a server of the kit', () => {
    it('A lock excludes another client, and its release wakes the waiter', async () => {
      const name = uniqueName()
      const [one, other] = [await createRedisson(), await createRedisson()]
      const hold = await one.getLock(name).acquire()
      expect(await other.getLock(name).tryLock()).to.equal(false)
      const waiting = other.getLock(name).acquire()
      await hold.unlock()
      await (await waiting).unlock()
      expect(await one.getLock(name).isLocked()).to.equal(false)
    })
  })
})
