import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import type { Permit, Redisson } from '../../../src/index'
import { createRedisson } from '../../kit/clients'
import { name, redis, redisAndName } from '../../kit/each-test'
import { internalsOf } from '../../kit/internals'
import { leftIn } from '../../kit/left-in'
import { openProxy } from '../../kit/proxies'
import { Random } from '../../kit/random'
import { sharedStandalone, type TcpProxy, waitUntil } from '../../kit/servers/index'

/** More by the environment: a longer run finds rarer things. */
const FAULTS = Number(process.env.FAULTS ?? 70)
const TOTAL = 6

describe('Semaphores and latches whose connections break again and again', () => {
  let proxies: TcpProxy[]
  let clients: Redisson[]
  let faults: number
  let isOver: boolean
  const random = new Random(Number(process.env.SEED ?? 20_261))
  const below = (bound: number) => random.between(0, bound - 1)

  redisAndName()
  beforeEach(async () => {
    const server = await sharedStandalone()
    proxies = await Promise.all([openProxy(server), openProxy(server), openProxy(server)])
    clients = await Promise.all(proxies.map(({ url }) => createRedisson({ redis: url })))
    for (const client of clients) client.on('error', () => {})
    faults = 0
    isOver = false
  })

  /** Loses replies, cuts connections in any state, and holds replies back for a while. */
  async function injectFaults(upTo: number): Promise<void> {
    while (faults < upTo) {
      const proxy = proxies[below(proxies.length)]!
      const kind = below(4)
      if (kind < 2) {
        const lost = proxy.dropNextReply((words) => /^eval/i.test(words[0] ?? ''))
        await Promise.race([lost, sleep(100)])
      } else if (kind === 2) proxy.cut()
      else {
        proxy.stallReplies()
        await sleep(below(20))
        proxy.cut()
        proxy.resume()
      }
      faults++
      await sleep(below(25))
    }
    isOver = true
  }

  async function everything(
    work: (client: Redisson, caller: number) => Promise<void>,
    callers: number,
  ): Promise<void> {
    await Promise.all([
      injectFaults(FAULTS),
      ...Array.from({ length: callers }, async (_, caller) => {
        while (!isOver) await work(clients[caller % clients.length]!, caller)
      }),
    ])
  }

  const settled = () =>
    waitUntil(
      'nothing is under way',
      () => clients.every((client) => internalsOf(client).orphans.size === 0),
      20_000,
    )

  it('No permit of a semaphore is lost or gained, and never more than there are are taken (S2)', async () => {
    await clients[0]!.getSemaphore(name).trySetPermits(TOTAL)
    let inside = 0
    let most = 0
    let grants = 0
    await everything(async (client) => {
      const semaphore = client.getSemaphore(name)
      const permits = 1 + below(3)
      const signal = below(3) === 0 ? AbortSignal.timeout(below(30)) : undefined
      try {
        await semaphore.withPermits(
          async () => {
            grants++
            inside += permits
            most = Math.max(most, inside)
            await sleep(below(4))
            inside -= permits
          },
          { permits, signal, waitTime: below(2) === 0 ? below(60) : undefined },
        )
      } catch (error) {
        const { code, name } = error as { code?: string; name?: string }
        // A wait that ends while the server is away is no "no".
        if (name !== 'TimeoutError' && code !== 'LOCK_TIMEOUT' && code !== 'REDIS_UNAVAILABLE') throw error
      }
    }, 15)
    await settled()
    expect(grants).to.be.greaterThan(50)
    expect(most).to.be.at.most(TOTAL)
    expect(Number(await redis.get(name))).to.equal(TOTAL)
    await leftNothing()
  })

  it('No permit that expires is lost or gained, in any way to acquire and release it (P3)', async () => {
    await clients[0]!.getPermitExpirableSemaphore(name).trySetPermits(TOTAL)
    let inside = 0
    let most = 0
    let grants = 0
    const lost: string[] = []
    for (const client of clients) client.on('permitLost', ({ reason }) => lost.push(reason))
    const stay = async (permits: number) => {
      grants++
      inside += permits
      most = Math.max(most, inside)
      await sleep(below(4))
      inside -= permits
    }
    await everything(async (client) => {
      const semaphore = client.getPermitExpirableSemaphore(name)
      const permits = 1 + below(3)
      const signal = below(3) === 0 ? AbortSignal.timeout(below(30)) : undefined
      const waitTime = 20 + below(60)
      try {
        if (below(2) === 0) {
          const ids = await semaphore.acquire({ permits, signal, waitTime })
          if (!ids) return
          await stay(permits)
          await semaphore.release(ids)
        } else {
          const permit: Permit | undefined = await semaphore.tryAcquirePermit({ signal, waitTime })
          if (!permit) return
          await stay(1)
          await permit.release()
        }
      } catch (error) {
        const { code, name } = error as { code?: string; name?: string }
        if (name !== 'TimeoutError' && code !== 'REDIS_UNAVAILABLE') throw error
      }
    }, 15)
    await settled()
    expect(grants).to.be.greaterThan(50)
    expect(most).to.be.at.most(TOTAL)
    expect(lost).to.deep.equal([])
    const semaphore = clients[0]!.getPermitExpirableSemaphore(name)
    expect([await semaphore.availablePermits(), await semaphore.acquiredPermits()]).to.deep.equal([TOTAL, 0])
    await leftNothing()
  })

  it('A latch opens with the last countDown, not before and not never (L3)', async () => {
    await clients[0]!.getCountDownLatch(name).trySetCount(1_000_000)
    const waiting = clients.map((client) => client.getCountDownLatch(name).await({ waitTime: 60_000 }))
    let counted = 0
    await everything(async (client) => {
      try {
        await client.getCountDownLatch(name).countDown()
      } catch (error) {
        // Then it goes on being tried.
        if ((error as { code?: string }).code !== 'REDIS_UNAVAILABLE') throw error
      }
      counted++
      await sleep(below(4))
    }, 15)
    await settled()
    expect(Number(await redis.get(name))).to.equal(1_000_000 - counted)
    await redis.set(name, 1)
    await clients[0]!.getCountDownLatch(name).countDown()
    expect(await Promise.all(waiting)).to.deep.equal([true, true, true])
  })

  async function leftNothing(): Promise<void> {
    for (const client of clients)
      await waitUntil('nothing is left', () => Object.keys(leftIn(client)).length === 0, 10_000)
  }
})
