import { expect } from 'chai'
import type { Redis } from 'ioredis'
import {
  type RCountDownLatch,
  type Redisson,
  type RPermitExpirableSemaphore,
  type RSemaphore,
  TimeUnit,
} from '../../../src/index'
import { luaSources } from '../../../src/scripts/lua.generated'
import { type ScriptName, script } from '../../../src/scripts/script'
import { closeAll, createRedisson, openRedis, uniqueName } from '../../kit/clients'
import { closeProxies, openProxy } from '../../kit/proxies'
import { type Standalone, startStandalone, type TcpProxy, waitUntil, without } from '../../kit/servers/index'

/** The objects of one case, all of one name of their own. */
interface Scene {
  readonly redis: Redis
  readonly name: string
  readonly semaphore: RSemaphore
  readonly permits: RPermitExpirableSemaphore
  readonly latch: RCountDownLatch
  /** What `arrange` took. */
  ids: string[]
}

interface Case {
  readonly script: ScriptName
  readonly state: string
  readonly arrange?: (scene: Scene) => Promise<unknown>
  /** The call; within it the script is sent. */
  readonly act: (scene: Scene) => Promise<unknown>
  /** What happens then, before a copy that was on its way arrives. */
  readonly afterwards?: (scene: Scene, answer: unknown) => Promise<unknown>
}

const set = (permits: number) => (scene: Scene) => scene.redis.set(scene.name, permits)
/** As Redisson writes it: so many permits, and two out without end, one of which has expired. */
const withPermitsOut = async (scene: Scene) => {
  const { redis, name } = scene
  scene.ids = ['11'.repeat(16), '22'.repeat(16)]
  await redis.set(name, 3)
  for (const [index, id] of scene.ids.entries())
    await redis.zadd(`{${name}}:timeout`, index === 0 ? '922337203685477' : '1000', Buffer.from(id, 'hex'))
}

const SEMAPHORE: Case[] = [
  {
    script: 'semaphore/acquire',
    state: 'enough',
    arrange: set(5),
    act: ({ semaphore }) => semaphore.acquire(2),
  },
  {
    script: 'semaphore/acquire',
    state: 'enough, and released',
    arrange: set(5),
    act: ({ semaphore }) => semaphore.acquire(2),
    afterwards: ({ semaphore }) => semaphore.release(2),
  },
  {
    script: 'semaphore/acquire',
    state: 'by withPermits',
    arrange: set(5),
    act: ({ semaphore }) => semaphore.withPermits(() => 'done'),
  },
  {
    script: 'semaphore/release',
    state: 'there',
    arrange: set(5),
    act: ({ semaphore }) => semaphore.release(2),
  },
  { script: 'semaphore/release', state: 'not there', act: ({ semaphore }) => semaphore.release(2) },
  {
    script: 'semaphore/release',
    state: 'by withPermits',
    arrange: set(5),
    act: ({ semaphore }) => semaphore.withPermits(() => 'done'),
  },
  {
    script: 'semaphore/release',
    state: 'not there, if it exists',
    act: ({ semaphore }) => semaphore.releaseIfExists(2),
  },
  {
    script: 'semaphore/add-permits',
    state: 'up',
    arrange: set(5),
    act: ({ semaphore }) => semaphore.addPermits(2),
  },
  {
    script: 'semaphore/add-permits',
    state: 'down',
    arrange: set(1),
    act: ({ semaphore }) => semaphore.addPermits(-2),
  },
  {
    script: 'semaphore/drain-permits',
    state: 'some',
    arrange: set(5),
    act: ({ semaphore }) => semaphore.drainPermits(),
  },
  {
    script: 'semaphore/drain-permits',
    state: 'some, and some come then',
    arrange: set(5),
    act: ({ semaphore }) => semaphore.drainPermits(),
    afterwards: ({ semaphore }) => semaphore.release(3),
  },
  {
    script: 'semaphore/try-set-permits',
    state: 'not there',
    act: ({ semaphore }) => semaphore.trySetPermits(5),
  },
  {
    script: 'semaphore/try-set-permits',
    state: 'not there, and deleted then',
    act: ({ semaphore }) => semaphore.trySetPermits(5),
    afterwards: ({ redis, name }) => redis.del(name),
  },
  {
    script: 'semaphore/try-set-permits',
    state: 'there',
    arrange: set(1),
    act: ({ semaphore }) => semaphore.trySetPermits(5),
  },
  {
    script: 'semaphore/available-permits',
    state: 'some',
    arrange: set(1),
    act: ({ semaphore }) => semaphore.availablePermits(),
  },
]

const PERMITS: Case[] = [
  {
    script: 'permit-expirable-semaphore/acquire',
    state: 'enough',
    arrange: set(5),
    act: async ({ permits }) => (await permits.acquire({ permits: 2 }))?.length,
  },
  {
    script: 'permit-expirable-semaphore/acquire',
    state: 'enough, and released',
    arrange: set(5),
    act: ({ permits }) => permits.acquire({ permits: 2, leaseTime: 60_000 }),
    afterwards: ({ permits }, ids) => permits.release(ids as string[]),
  },
  {
    script: 'permit-expirable-semaphore/acquire',
    state: 'enough, one that renews itself, and released',
    arrange: set(5),
    act: ({ permits }) => permits.acquirePermit(),
    afterwards: (_, permit) => (permit as { release(): Promise<void> }).release(),
  },
  {
    script: 'permit-expirable-semaphore/acquire',
    state: 'too few until one expires',
    arrange: withPermitsOut,
    act: async ({ permits }) => (await permits.acquire({ permits: 4 }))?.length,
  },
  {
    script: 'permit-expirable-semaphore/release',
    state: 'out',
    arrange: withPermitsOut,
    act: ({ permits, ids }) => permits.release(ids[0]!),
  },
  {
    script: 'permit-expirable-semaphore/release',
    state: 'out, all of them',
    arrange: async (scene) => {
      await withPermitsOut(scene)
      await scene.permits.updateLeaseTime(scene.ids[0]!, 60_000)
    },
    act: ({ permits, ids }) => permits.tryRelease([ids[0]!]),
  },
  {
    script: 'permit-expirable-semaphore/release',
    state: 'one of them not out',
    arrange: withPermitsOut,
    act: ({ permits, ids }) => permits.tryRelease(ids),
  },
  {
    script: 'permit-expirable-semaphore/count',
    state: 'one expired',
    arrange: withPermitsOut,
    act: ({ permits }) => permits.getPermits(),
  },
  {
    script: 'permit-expirable-semaphore/try-set-permits',
    state: 'not there',
    act: ({ permits }) => permits.trySetPermits(5),
  },
  {
    script: 'permit-expirable-semaphore/try-set-permits',
    state: 'not there, and deleted then',
    act: ({ permits }) => permits.trySetPermits(5),
    afterwards: ({ redis, name }) => redis.del(name),
  },
  {
    script: 'permit-expirable-semaphore/set-permits',
    state: 'there',
    arrange: withPermitsOut,
    act: ({ permits }) => permits.setPermits(7),
  },
  {
    script: 'permit-expirable-semaphore/add-permits',
    state: 'there',
    arrange: withPermitsOut,
    act: ({ permits }) => permits.addPermits(7),
  },
  {
    script: 'permit-expirable-semaphore/update-lease-time',
    state: 'out',
    arrange: withPermitsOut,
    act: ({ permits, ids }) => permits.updateLeaseTime(ids[0]!, 5, TimeUnit.MINUTES),
  },
  {
    script: 'permit-expirable-semaphore/update-lease-time',
    state: 'expired',
    arrange: withPermitsOut,
    act: ({ permits, ids }) => permits.updateLeaseTime(ids[1]!, 5, TimeUnit.MINUTES),
  },
  {
    script: 'permit-expirable-semaphore/get-lease-time',
    state: 'out',
    arrange: withPermitsOut,
    act: ({ permits, ids }) => permits.getLeaseTime(ids[0]!),
  },
]

const LATCH: Case[] = [
  {
    script: 'count-down-latch/count-down',
    state: 'two',
    arrange: set(2),
    act: ({ latch }) => latch.countDown(),
  },
  {
    script: 'count-down-latch/count-down',
    state: 'the last, and set anew',
    arrange: set(1),
    act: ({ latch }) => latch.countDown(),
    afterwards: ({ latch }) => latch.trySetCount(2),
  },
  { script: 'count-down-latch/try-set-count', state: 'open', act: ({ latch }) => latch.trySetCount(2) },
  {
    script: 'count-down-latch/try-set-count',
    state: 'open, and counted down',
    act: ({ latch }) => latch.trySetCount(1),
    afterwards: ({ latch }) => latch.countDown(),
  },
  {
    script: 'count-down-latch/try-set-count',
    state: 'set',
    arrange: set(2),
    act: ({ latch }) => latch.trySetCount(3),
  },
  {
    script: 'count-down-latch/get-count',
    state: 'set',
    arrange: set(2),
    act: ({ latch }) => latch.getCount(),
  },
  {
    script: 'count-down-latch/delete',
    state: 'set, and set anew',
    arrange: set(2),
    act: ({ latch }) => latch.delete(),
    afterwards: ({ latch }) => latch.trySetCount(3),
  },
]

const CASES = [...SEMAPHORE, ...PERMITS, ...LATCH]
/** Sent in the background alone, and tested where that is. */
const ELSEWHERE = ['semaphore/cancel', 'permit-expirable-semaphore/renew']

describe('The reply of a script of a semaphore or latch is lost (S2, P3, L3)', () => {
  let server: Standalone
  let redis: Redis
  let proxy: TcpProxy
  let us: Redisson
  let unfenced: Redisson

  before(async () => {
    server = await startStandalone()
    redis = await openRedis(server.url)
    for (const source of Object.values(luaSources)) await redis.script('LOAD', source)
    // Where a broken connection cannot be killed, a copy on it does arrive.
    await redis.call(
      'ACL',
      'SETUSER',
      'unfenced',
      'on',
      '>pw',
      '~*',
      '&*',
      '+@all',
      ...without('client', 'kill'),
    )
    proxy = await openProxy(server)
    us = await createRedisson({ redis: proxy.url })
    unfenced = await createRedisson({ redis: `redis://unfenced:pw@${proxy.host}:${proxy.port}` })
    for (const each of [us, unfenced]) each.on('error', () => {})
  })
  after(async () => {
    await closeAll()
    await closeProxies()
    await server.stop()
  })

  it('Every script of a semaphore or latch has its cases here', () => {
    const scripts = Object.keys(luaSources).filter((name) => /semaphore|latch/.test(name))
    expect([...new Set(CASES.map((each) => each.script)), ...ELSEWHERE].sort()).to.deep.equal(scripts.sort())
  })

  function sceneOf(redisson: Redisson): Scene {
    const name = uniqueName('lossy')
    return {
      redis,
      name,
      semaphore: redisson.getSemaphore(name),
      permits: redisson.getPermitExpirableSemaphore(name),
      latch: redisson.getCountDownLatch(name),
      ids: [],
    }
  }

  const look = async ({ name }: Scene) => ({
    free: await redis.get(name),
    out: await redis.zcard(`{${name}}:timeout`),
  })

  const plain = (answer: unknown) => (typeof answer === 'object' && answer !== null ? 'granted' : answer)

  /** The call, and what follows it, on a client whose fault `arm` prepares; `late` lets what is still on its way arrive. */
  async function run(
    each: Case,
    redisson: Redisson,
    arm?: (scene: Scene) => Promise<() => Promise<unknown>>,
  ) {
    const scene = sceneOf(redisson)
    await each.arrange?.(scene)
    const faulty = arm?.(scene)
    const answer = await each.act(scene)
    await each.afterwards?.(scene, answer)
    const late = await faulty
    await late?.()
    return { scene, seen: { answer: plain(answer), ...(await look(scene)) } }
  }

  const matching =
    (each: Case, { name }: Scene) =>
    (words: readonly string[]) =>
      words[1] === script(each.script, String).sha && words.includes(name)

  for (const each of CASES) {
    it(`${each.script}, ${each.state}: sent again after its reply was lost`, async () => {
      const expected = await run(each, us)
      const { seen } = await run(each, us, async (scene) => {
        await proxy.dropNextReply(matching(each, scene))
        return async () => {}
      })
      expect(seen).to.deep.equal(expected.seen)
    })

    it(`${each.script}, ${each.state}: a copy arrives when all is over`, async () => {
      const expected = await run(each, us)
      let fate: string | undefined
      const { scene, seen } = await run(each, unfenced, async (scene) => {
        const copy = await proxy.withhold(matching(each, scene))
        return async () => {
          fate = await copy.arrive()
        }
      })
      expect(fate).to.equal('executed')
      expect(seen.answer).to.equal(expected.seen.answer)
      const { answer: _, ...state } = expected.seen
      // A permit that the copy took is released by its client within a second or so.
      await waitUntil(
        'the state is the undisturbed one',
        async () => {
          expect(await look(scene)).to.deep.equal(state)
          return true
        },
        8_000,
      )
    })
  }

  it('semaphore/cancel: an acquisition that was given up stays given up, though its reply is lost and a copy of either arrives late', async () => {
    for (const of of ['semaphore/acquire', 'semaphore/cancel'] as const) {
      const scene = sceneOf(unfenced)
      const { name, semaphore } = scene
      await set(5)(scene)
      const isOf = (words: readonly string[]) => words[1] === script(of, String).sha && words.includes(name)
      const withheld = proxy.withhold(isOf)
      const abort = new AbortController()
      if (of === 'semaphore/cancel') {
        const isAcquire = (words: readonly string[]) =>
          words[1] === script('semaphore/acquire', String).sha && words.includes(name)
        void proxy.dropNextReply(isAcquire).then(() => abort.abort())
      }
      const acquiring = semaphore.acquire({ permits: 2, signal: abort.signal }).catch(() => {})
      if (of === 'semaphore/acquire') void withheld.then(() => abort.abort())
      await acquiring
      const copy = await withheld
      await waitUntil('it is taken back', () => unfenced.internals.orphans.size === 0)
      expect(await redis.get(name)).to.equal('5')
      expect(await copy.arrive()).to.equal('executed')
      expect(await redis.get(name)).to.equal('5')
    }
  })
})
