import { expect } from 'chai'
import type { Redis } from 'ioredis'
import { closeAll, createRedisson, openRedis, rejection, uniqueName } from '../../kit/clients'
import { roles, through } from '../../kit/replication'
import { type RedisNode, type SentinelSetup, startSentinel, waitUntil } from '../../kit/servers/index'

describe('Replicas that do not acknowledge a fenced lock or a token lock', () => {
  let setup: SentinelSetup
  let replicas: readonly RedisNode[]
  let redis: Redis

  before(async () => {
    setup = await startSentinel()
    replicas = (await roles(setup)).replicas
  })
  beforeEach(async () => {
    redis = await openRedis((await roles(setup)).primary.url)
  })
  afterEach(async () => {
    await resume()
    await closeAll()
  })
  after(() => setup.stop())

  const pause = () => Promise.all(replicas.map((replica) => replica.pause()))
  const resume = async () => {
    await Promise.all(replicas.map((replica) => replica.resume()))
    await waitUntil('both replicas have everything', async () => {
      await redis.set('caught up', 1)
      return (await redis.wait(2, 1_000)) === 2
    })
  }
  const connected = () => createRedisson({ redis: through(setup), slavesSyncTimeout: 300 })

  it('A token that no replica has is not handed out: the lock is released, and the next token is greater (F3, J6)', async () => {
    const redisson = await connected()
    const errors: Error[] = []
    redisson.on('error', (error) => errors.push(error))
    const name = uniqueName('fenced')
    const lock = redisson.getFencedLock(name)
    expect(await lock.withLock(({ token }) => token)).to.equal(1)
    await pause()
    expect((await rejection(lock.lockAndGetToken())).code).to.equal('LOCK_NOT_REPLICATED')
    await waitUntil('it is released', async () => (await redis.exists(name)) === 0)
    expect(await lock.getToken(), 'three tries of one owner draw one token').to.equal(2)
    await resume()
    expect(await lock.lockAndGetToken()).to.equal(3)
    await lock.unlock()
    expect(errors).to.deep.equal([])
  })

  it('A token lock that no replica has is released, and granted once the replicas are back (D4)', async () => {
    const redisson = await connected()
    const name = uniqueName('token')
    const lock = redisson.getTokenLock(name)
    await lock.withLock(() => {})
    await pause()
    expect((await rejection(lock.lock())).code).to.equal('LOCK_NOT_REPLICATED')
    await waitUntil('it is released', async () => (await redis.exists(name)) === 0)
    await resume()
    await lock.withLock(() => {})
  })
})
