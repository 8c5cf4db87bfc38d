import { expect } from 'chai'
import { Redis } from 'ioredis'
import { Redisson } from '../../src/index'
import { createRedisson, openRedis, rejection, uniqueName } from '../kit/clients'
import { type ClusterSetup, hasClusterDatabases, startCluster, waitUntil } from '../kit/servers/index'

const DB = 3

/** A cluster of Valkey 9 may have several databases; every other one has 0 only. */
describe('A cluster and the number of a database', () => {
  let setup: ClusterSetup

  before(async () => {
    const config = (await hasClusterDatabases()) ? ['cluster-databases 4'] : []
    setup = await startCluster({ replicas: 1, config })
  })
  after(() => setup?.stop())

  const source = (db: number) => ({
    nodes: setup.nodes.slice(0, 1).map(({ host, port }) => ({ host, port })),
    options: { redisOptions: { db } },
  })
  const reject = (db: number) => rejection(Redisson.create({ redis: source(db) }))

  it('create() rejects where the cluster does not have the database, and says which ones have', async () => {
    const [db, reason] = (await hasClusterDatabases()) ? [5, 'out of range'] : [DB, 'cluster-databases']
    const error = await reject(db)
    expect(error).to.have.property('code', 'REDIS_REFUSED')
    expect(error.message).to.contain('is not in database').and.to.contain(reason)
  })

  it('In a cluster with databases a lock is held in its database only, on every node', async function () {
    if (!(await hasClusterDatabases())) return this.skip()
    const [inThree, other, inZero] = [
      await createRedisson({ redis: source(DB) }),
      await createRedisson({ redis: source(DB) }),
      await createRedisson({ redis: source(0) }),
    ]
    for (let at = 0; at < 12; at++) {
      const name = uniqueName()
      const hold = await inThree.getLock(name).acquire()
      expect(await other.getLock(name).tryLock()).to.equal(false)
      const inAnother = await inZero.getLock(name).tryAcquire()
      const waiting = other.getLock(name).tryAcquire({ waitTime: 20_000 })
      await waitUntil('the other waits', async () => other.stats().waiting === 1)
      await hold.unlock()
      await (await waiting)!.unlock()
      await inAnother!.unlock()
    }
  })

  it('In a cluster with databases a connection that is opened again is in its database', async function () {
    if (!(await hasClusterDatabases())) return this.skip()
    const redisson = await createRedisson({ redis: source(DB) })
    const names = Array.from({ length: 12 }, () => uniqueName())
    const lockAll = () => Promise.all(names.map((name) => redisson.getLock(name).withLock(() => name)))
    await lockAll()
    for (const { host, port } of setup.nodes) {
      const admin = await openRedis(`redis://${host}:${port}`)
      await admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
    }
    const holds = await Promise.all(names.map((name) => redisson.getLock(name).acquire()))
    for (const { host, port } of setup.nodes) {
      const redis = new Redis({ host, port })
      expect(await redis.dbsize(), 'keys in database 0').to.equal(0)
      redis.disconnect()
    }
    await Promise.all(holds.map((hold) => hold.unlock()))
  })
})
