import { AsyncLocalStorage } from 'node:async_hooks'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { expect } from 'chai'
import type { Redisson } from '../../src/index'
import { ambientThread } from '../../src/ownership/logical-thread'
import { createRedisson, openRedis, uniqueName } from '../kit/clients'
import { clientAndRedis, redis, redisson } from '../kit/each-test'
import { deferred } from '../kit/observing'
import { openProxy } from '../kit/proxies'
import { sharedCluster, sharedSentinel, sharedStandalone, waitUntil } from '../kit/servers/index'
import { tapped } from '../kit/tapped-transport'

/** What a service keeps for each of its requests: a trace, a tenant, a logger. */
const requests = new AsyncLocalStorage<string>()

describe('The async context of a request', () => {
  let name: string
  let sockets: (string | undefined)[]
  const noteSocket = () => {
    sockets.push(requests.getStore())
  }

  beforeEach(() => {
    name = uniqueName('context')
    sockets = []
    subscribe('net.client.socket', noteSocket)
  })
  afterEach(() => void unsubscribe('net.client.socket', noteSocket))

  describe('Listeners of events', () => {
    let seen: (string | undefined)[]

    clientAndRedis('test', { lockWatchdogTimeout: 900 })
    beforeEach(() => {
      seen = []
      requests.run('setup', () => redisson.on('lockLost', () => seen.push(requests.getStore())))
      redisson.on('lockLost', () => seen.push(requests.getStore()))
    })

    it("An event listener runs in its request's context when another forces a release", async () => {
      await requests.run('holder', () => redisson.getLock(name).lock())
      await requests.run('intruder', () => redisson.getLock(name).forceUnlock())
      expect(seen).to.deep.equal(['setup', undefined])
    })

    it("An event listener runs in its request's context when a renewal finds a loss", async () => {
      await requests.run('holder', () => redisson.getLock(name).lock())
      await (await openRedis()).del(name)
      await waitUntil('the loss is reported', () => seen.length === 2)
      expect(seen).to.deep.equal(['setup', undefined])
    })

    it("An event listener runs in its request's context when a re-entry finds a loss", async () => {
      await requests.run('holder', () =>
        redisson.run(async () => {
          await redisson.getLock(name).lock()
          await redis.del(name)
          await redisson
            .getLock(name)
            .lock()
            .catch(() => {})
        }),
      )
      expect(seen).to.deep.equal(['setup', undefined])
    })

    it('A listener of listener errors runs in the async context of its request', async () => {
      const reported = deferred<string | undefined>()
      requests.run('errors', () => redisson.on('error', () => reported.resolve(requests.getStore())))
      requests.run('careless', () =>
        redisson.on('lockLost', () => {
          throw new Error('careless')
        }),
      )
      await requests.run('holder', () => redisson.getLock(name).lock())
      await redisson.getLock(name).forceUnlock()
      expect(await reported.promise).to.equal('errors')
    })

    it("An event listener runs in its request's context until a request removes it", async () => {
      const listener = () => seen.push('removed')
      requests.run('one', () => redisson.on('lockLost', listener))
      requests.run('other', () => redisson.on('lockLost', listener))
      requests.run('third', () => redisson.off('lockLost', listener))
      await redisson.getLock(name).lock()
      await redisson.getLock(name).forceUnlock()
      expect(seen).to.deep.equal(['setup', undefined])
    })
  })

  describe('Listeners of a signal', () => {
    const acquired = (redisson: Redisson, leaseTime?: number) => {
      const aborted = deferred<string | undefined>()
      return requests.run('holder', async () => {
        const hold = await redisson.getLock(name).acquire({ leaseTime })
        hold.signal.addEventListener('abort', () => aborted.resolve(requests.getStore()))
        return { hold, aborted: aborted.promise }
      })
    }

    it("A signal listener runs in its request's context when another forces a release", async () => {
      const redisson = await createRedisson()
      const { aborted } = await acquired(redisson)
      await requests.run('intruder', () => redisson.getLock(name).forceUnlock())
      expect(await aborted).to.equal('holder')
    })

    it("A signal listener runs in its request's context when a timer ends the lease", async () => {
      const { aborted } = await acquired(await createRedisson(), 100)
      expect(await aborted).to.equal('holder')
    })

    it("A signal listener runs in its request's context when another finds the lease over", async () => {
      const { hold, aborted } = await acquired(await createRedisson(), 50)
      const until = performance.now() + 60
      while (performance.now() < until);
      expect(requests.run('curious', () => hold.isHeld)).to.equal(false)
      expect(await aborted).to.equal('holder')
    })

    it("A signal listener runs in its request's context at a shutdown by another", async () => {
      const redisson = await createRedisson()
      const { aborted } = await acquired(redisson)
      await requests.run('operator', () => redisson.shutdown({ timeout: 0 }))
      expect(await aborted).to.equal('holder')
    })
  })

  it('A copy of the package first imported in a request gets no logical thread from it', async () => {
    const redisson = await createRedisson()
    const path = require.resolve('../../src/util/async-context')
    const first = require.cache[path]
    delete require.cache[path]
    await requests.run('importer', () =>
      redisson.run(() => {
        const copy = require(path) as typeof import('../../src/util/async-context')
        expect(ambientThread()).to.not.equal(undefined)
        expect(copy.outsideRequests(ambientThread)).to.equal(undefined)
        expect(copy.inThisContext(ambientThread)()).to.equal(undefined)
        expect(copy.inThisContext(() => requests.getStore())()).to.equal('importer')
      }),
    )
    require.cache[path] = first
  })

  it('Renewals do not run in the async context of the request that they follow', async () => {
    const renewals: (string | undefined)[] = []
    const transport = tapped((sent) => {
      if (sent.name.endsWith('/renew')) renewals.push(requests.getStore())
      return sent.pass()
    })
    const redisson = await createRedisson({ lockWatchdogTimeout: 1_500 }, { transport })
    await requests.run('holder', async () => {
      await redisson.getLock(name).lock()
      await redisson.run(() => redisson.getReadWriteLock(uniqueName('context')).readLock().lock())
    })
    await waitUntil('both are renewed twice', () => renewals.length >= 4)
    expect(new Set(renewals)).to.deep.equal(new Set([undefined]))
  })

  it('Later attempts of waiters do not run in the async context of another request', async () => {
    const attempts: (string | undefined)[] = []
    const transport = tapped((sent) => {
      if (sent.name === 'write-lock/acquire' && !sent.bySource) attempts.push(requests.getStore())
      return sent.pass()
    })
    const redisson = await createRedisson({}, { transport })
    const lock = redisson.getReadWriteLock(name).writeLock()
    const hold = await requests.run('holder', () => lock.acquire())
    const abort = new AbortController()
    const leaving = requests.run('leaver', () => lock.acquire({ signal: abort.signal }).catch(() => {}))
    const waiting = Promise.all(
      Array.from({ length: 3 }, () => requests.run('waiter', () => lock.withLock(() => {}))),
    )
    await waitUntil('the first has been asked for twice', () => attempts.length === 3)
    requests.run('aborter', () => abort.abort())
    await leaving
    await requests.run('holder', () => hold.unlock())
    await waiting
    // The first attempt belongs to its caller; an attempt after a message, a timer or another caller's release to none.
    expect(attempts.slice(0, 2)).to.deep.equal(['holder', 'leaver'])
    expect(new Set(attempts.slice(2))).to.deep.equal(new Set([undefined]))
  })

  it('Connections, also new ones, do not belong to the context of the opening request', async () => {
    const proxy = await openProxy(await sharedStandalone())
    const { url } = proxy
    const redisson = await requests.run('first', () => createRedisson({ redis: url }))
    const opened = sockets.length
    proxy.cut()
    await requests.run('second', () => redisson.getLock(name).withLock(() => {}))
    await waitUntil('both connections are open again', () => sockets.length >= opened + 2)
    expect(new Set(sockets)).to.deep.equal(new Set([undefined]))
  })

  it('Connections behind sentinels do not belong to the context of the opening request', async () => {
    const setup = await sharedSentinel()
    sockets = []
    const sentinels = setup.sentinels.map(({ host, port }) => ({ host, port }))
    const redis = { sentinels, name: setup.name }
    const redisson = await requests.run('first', () => createRedisson({ redis }))
    await requests.run('second', () => redisson.getLock(name).withLock(() => {}))
    expect(sockets.length).to.be.greaterThan(3)
    expect(new Set(sockets)).to.deep.equal(new Set([undefined]))
  })

  it('Connections to cluster nodes do not belong to the context of the opening request', async () => {
    const { nodes } = await sharedCluster()
    sockets = []
    const redis = { nodes: nodes.map(({ host, port }) => ({ host, port })) }
    const redisson = await requests.run('first', () => createRedisson({ redis }))
    await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        requests.run('second', async () => {
          const hold = await redisson.getLock(`${name}:${index}`).acquire()
          const waiting = redisson.getLock(hold.lockName).acquire()
          await hold.unlock()
          await (await waiting).unlock()
        }),
      ),
    )
    expect(sockets.length).to.be.greaterThan(5)
    expect(new Set(sockets)).to.deep.equal(new Set([undefined]))
  })
})
