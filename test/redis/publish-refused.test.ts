import { expect } from 'chai'
import { RedisRefusedError, type Redisson, type RLock } from '../../src/index'
import { createRedisson, uniqueName } from '../kit/clients'
import { redis, redisAndName } from '../kit/each-test'
import { eventsOf } from '../kit/observing'
import {
  type ClusterSetup,
  freshServer,
  needs,
  ownServer,
  type Standalone,
  startCluster,
  withClient,
} from '../kit/servers/index'

/** Process warnings with this code, from now on. */
function warnings(code: string) {
  const seen: string[] = []
  const listener = (warning: Error & { code?: string }) => {
    if (warning.code === code) seen.push(warning.message)
  }
  process.on('warning', listener)
  return {
    /** What was warned of until now; a warning is emitted a turn later. */
    async soFar() {
      const code = 'RLOCK_TEST_MARKER'
      // Warnings are emitted in the order in which they were made, several in one tick.
      await new Promise<void>((resolve) => {
        const note = (warning: Error & { code?: string }) => {
          if (warning.code !== code) return
          process.off('warning', note)
          resolve()
        }
        process.on('warning', note)
        process.emitWarning('marker', { code })
      })
      return seen
    },
    stop: () => process.off('warning', listener),
  }
}

describe('A PUBLISH that the server refuses', () => {
  const server = ownServer()
  let publishing: ReturnType<typeof warnings>

  redisAndName('test', { server })
  beforeEach(() => {
    publishing = warnings('RLOCK_PUBLISH_REFUSED')
  })
  afterEach(() => publishing.stop())

  const setUser = (...rules: string[]) =>
    redis.call('ACL', 'SETUSER', 'app', 'reset', 'on', '>secret', '~*', ...rules)
  const asUser = (of: Standalone = server) => of.url.replace('redis://', 'redis://app:secret@')

  function errorsOf(redisson: Redisson): Error[] {
    const errors = eventsOf(redisson, 'error')
    return errors
  }

  async function lockAndUnlock(lock: RLock) {
    await lock.lock()
    await lock.unlock()
  }

  const ways = {
    'by a missing command right': ['&*', '+@all', '-publish'],
    'by missing channel rights, as a new user has none': ['resetchannels', '+@all'],
  }
  for (const [what, rules] of Object.entries(ways))
    it(`A refused PUBLISH (${what}) fails no release; one event says what to grant`, async () => {
      await setUser(...rules)
      const redisson = await createRedisson({ redis: asUser() })
      const errors = errorsOf(redisson)
      const lock = redisson.getLock(uniqueName())
      for (let i = 0; i < 3; i++) await lockAndUnlock(lock)
      expect(await redis.exists(lock.getName())).to.equal(0)
      expect(errors).to.have.length(1)
      expect(errors[0]).to.be.instanceOf(RedisRefusedError)
      expect(errors[0]!.message)
        .to.contain('+publish &redisson_lock__channel:*')
        .and.contain(lock.getName())
        .and.contain('sleeps until the lease')
      // A read-write lock has another channel, and both of its sides one.
      const rw = redisson.getReadWriteLock(uniqueName())
      await lockAndUnlock(rw.readLock())
      await lockAndUnlock(rw.writeLock())
      expect(errors).to.have.length(2)
      expect(errors[1]!.message).to.contain('+publish &redisson_rwlock:*')
    })

  it('A PUBLISH refused for some names is warned of at the first loss, once a kind (V18)', async () => {
    await setUser('resetchannels', '&redisson_lock__channel:{lock:*', '+@all')
    const redisson = await createRedisson({ redis: asUser() })
    await lockAndUnlock(redisson.getLock('lock:x'))
    expect(await publishing.soFar()).to.deep.equal([])
    for (let times = 0; times < 2; times++) await lockAndUnlock(redisson.getLock('lock:{a}:x'))
    const [message, ...more] = await publishing.soFar()
    expect(message).to.contain('"redisson_lock__channel:lock:{a}:x"').and.contain('Grant the user +publish')
    expect(more).to.deep.equal([])
  })

  it('A PUBLISH refused by rename-command fails no release; one event says so', async () => {
    const renamed = await freshServer({ config: ['rename-command PUBLISH ""'] })
    const redisson = await createRedisson({ redis: renamed.url })
    const errors = errorsOf(redisson)
    const lock = redisson.getLock(uniqueName())
    await lockAndUnlock(lock)
    await lockAndUnlock(lock)
    expect(errors.map(({ message }) => message)).to.have.length(1)
    expect(errors[0]!.message).to.contain('do not rename PUBLISH')
    expect(await publishing.soFar()).to.have.length(1)
  })

  it('A refused PUBLISH is reported by a release in the background and by force too', async () => {
    await setUser('&*', '+@all', '-publish')
    const redisson = await createRedisson({ redis: asUser() })
    const errors = errorsOf(redisson)
    const lock = redisson.getLock(uniqueName())
    await lock.lock()
    expect(await lock.forceUnlock()).to.equal(true)
    expect(errors).to.have.length(1)
    const other = await createRedisson({ redis: asUser() })
    const others = errorsOf(other)
    // The acquisition is given up while it is under way; what it acquired is released when it is answered.
    const abort = new AbortController()
    const acquiring = other.getLock(uniqueName()).acquire({ signal: abort.signal })
    abort.abort()
    await acquiring.catch(() => {})
    await new Promise<void>((resolve) => {
      if (others.length > 0) resolve()
      else other.on('error', () => resolve())
    })
  })

  it('A PUBLISH that the server refuses anew after one that it published is another outage', async () => {
    await setUser('&*', '+@all', '-publish')
    const redisson = await createRedisson({ redis: asUser() })
    const errors = errorsOf(redisson)
    const lock = redisson.getLock(uniqueName())
    await lockAndUnlock(lock)
    await setUser('&*', '+@all')
    await lockAndUnlock(lock)
    await setUser('&*', '+@all', '-publish')
    await new Promise((resolve) => setTimeout(resolve, 5_200))
    await lockAndUnlock(lock)
    expect(errors).to.have.length(2)
  })

  describe('An SPUBLISH that the server refuses', () => {
    let cluster: ClusterSetup

    before(async function () {
      await needs(this, 'sharded pub/sub')
      cluster = await startCluster()
      for (const node of cluster.nodes)
        await withClient(node, (client) =>
          client.call('ACL', 'SETUSER', 'app', 'on', '>secret', '~*', '&*', '+@all', '-spublish'),
        )
    })
    after(() => cluster?.stop())

    it('An SPUBLISH that a cluster refuses is reported by its name, as in the warning', async () => {
      const nodes = cluster.nodes.map(({ host, port }) => ({ host, port }))
      const redisson = await createRedisson({
        redis: { nodes, options: { redisOptions: { username: 'app', password: 'secret' } } },
      })
      const errors = errorsOf(redisson)
      await lockAndUnlock(redisson.getLock(uniqueName()))
      expect(errors.map(({ message }) => message)).to.have.length(1)
      expect(errors[0]!.message).to.contain('+spublish &redisson_lock__channel:*')
      expect((await publishing.soFar())[0]).to.contain('+spublish')
    })
  })
})
