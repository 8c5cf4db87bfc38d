import { Semaphore } from 'async-mutex'
import { expect } from 'chai'
import type { Redis } from 'ioredis'
import type { Redisson } from '../../../src/index'
import { luaSources } from '../../../src/scripts/lua.generated'
import { script } from '../../../src/scripts/script'
import { closeAll, createRedisson, openRedis, uniqueName } from '../../kit/clients'
import { openUntilTheEnd } from '../../kit/closing'
import { internalsOf } from '../../kit/internals'
import { openProxy } from '../../kit/proxies'
import { ownServer, type TcpProxy, waitUntil, without } from '../../kit/servers/index'
import { type Answering, LossyLink } from './lossy-link'
import { openCluster, openSentinel, type Setting } from './setting'
import type { Case, Scene } from './synchronizer-case'
import { CASES, look, plain, sceneOf } from './synchronizer-cases'

/** Sent in the background alone, and tested where that is. */
const ELSEWHERE = ['semaphore/cancel', 'permit-expirable-semaphore/renew', 'rate-limiter/cancel']

describe('The reply of a script of a semaphore or latch is lost (S2, P3, L3)', () => {
  const server = ownServer()
  let redis: Redis
  let proxy: TcpProxy
  let us: Redisson
  let unfenced: Redisson

  before(async () => {
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
  openUntilTheEnd()

  it('Every script of a semaphore, a latch or a rate limiter has its cases here', () => {
    const scripts = Object.keys(luaSources).filter((name) => /semaphore|latch|rate-limiter/.test(name))
    expect([...new Set(CASES.map((each) => each.script)), ...ELSEWHERE].sort()).to.deep.equal(scripts.sort())
  })

  /** The call, and what follows it, on a client whose fault `arm` prepares; `late` lets what is still on its way arrive. */
  async function run(
    each: Case,
    redisson: Redisson,
    arm?: (scene: Scene) => Promise<() => Promise<unknown>>,
  ) {
    const scene = sceneOf(redis, redisson, uniqueName('lossy'))
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
      words[1] === script(each.script, String).sha && words.some((word) => word.includes(name))

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
      const { scene, seen } = await run(each, each.needsFence ? us : unfenced, async (scene) => {
        const copy = await proxy.withhold(matching(each, scene))
        return async () => {
          fate = await copy.arrive()
        }
      })
      expect(fate).to.equal(each.needsFence ? 'dead' : 'executed')
      expect(seen.answer).to.equal(expected.seen.answer)
      const { answer: _, ...state } = expected.seen
      expect(await look(scene)).to.deep.equal(state)
    })
  }

  it('semaphore/cancel: what was given up stays given up, with lost replies and late copies', async () => {
    for (const command of ['semaphore/acquire', 'semaphore/cancel'] as const) {
      const scene = sceneOf(redis, unfenced, uniqueName('lossy'))
      const { name, semaphore } = scene
      await redis.set(name, 5)
      const isOf = (words: readonly string[]) =>
        words[1] === script(command, String).sha && words.includes(name)
      const withheld = proxy.withhold(isOf)
      const abort = new AbortController()
      if (command === 'semaphore/cancel') {
        const isAcquire = (words: readonly string[]) =>
          words[1] === script('semaphore/acquire', String).sha && words.includes(name)
        void proxy.dropNextReply(isAcquire).then(() => abort.abort())
      }
      const acquiring = semaphore.acquire({ permits: 2, signal: abort.signal }).catch(() => {})
      if (command === 'semaphore/acquire') void withheld.then(() => abort.abort())
      await acquiring
      const copy = await withheld
      await waitUntil('it is taken back', () => internalsOf(unfenced).orphans.size === 0)
      expect(await redis.get(name)).to.equal('5')
      expect(await copy.arrive()).to.equal('executed')
      expect(await redis.get(name)).to.equal('5')
    }
  })
})

/** Acquisitions and changes of permits wait for a replica; looks and latches do not. */
const WAITS_FOR_REPLICA = /semaphore\/(acquire|release|add|drain|set|try-set|update)/
const AT_ONCE = 10

for (const [where, open, ofs] of [
  ['in a cluster', openCluster, ['script']],
  ['behind Sentinel', openSentinel, ['script', 'wait']],
] as const)
  describe(`The reply of a script of a semaphore or latch is lost, ${where} (S2, P3, L3, D4)`, () => {
    let setting: Setting
    const limiter = new Semaphore(AT_ONCE)
    const outcomes = new Map<string, Promise<unknown>>()
    const keyOf = ({ script, state }: Case, of: Answering | 'nothing') => `${script}, ${state}: ${of}`
    const cases = ofs.flatMap((of) =>
      CASES.filter((each) => of === 'script' || WAITS_FOR_REPLICA.test(each.script)).map((each) => ({
        each,
        of,
      })),
    )

    async function seen(each: Case, redisson: Redisson, arm: () => Promise<void>) {
      const scene = sceneOf(setting.admin, redisson, setting.newName())
      await each.arrange?.(scene)
      const lost = arm()
      const acting = each.act(scene)
      await Promise.race([
        lost,
        acting.then(() => Promise.reject(new Error('answered before a reply was lost'))),
      ])
      const answer = await acting
      await each.afterwards?.(scene, answer)
      return { answer: plain(answer), ...(await look(scene)) }
    }

    async function withLoss(each: Case, of: Answering) {
      const link = await LossyLink.open(setting.nodes)
      const us = await createRedisson({ redis: setting.source(link.addresses, link.natMap) })
      us.on('error', () => {})
      try {
        return await seen(each, us, () => link.loseReply(script(each.script, String).sha, 'resend', of))
      } finally {
        await us.shutdown({ timeout: 0 })
        await link.close()
      }
    }

    before(async () => {
      setting = await open()
      const begin = (key: string, work: () => Promise<unknown>) => {
        const outcome = limiter.runExclusive(work)
        outcome.catch(() => {})
        outcomes.set(key, outcome)
      }
      for (const each of CASES)
        begin(keyOf(each, 'nothing'), () => seen(each, setting.peer, () => Promise.resolve()))
      for (const { each, of } of cases) begin(keyOf(each, of), () => withLoss(each, of))
    })
    after(async () => {
      await Promise.allSettled(outcomes.values())
      await closeAll()
      await setting.stop()
    })
    openUntilTheEnd()

    for (const { each, of } of cases)
      it(`${each.script}, ${each.state}: ${of === 'wait' ? 'the reply of the WAIT behind it' : 'its reply'} is lost, ${where}`, async () => {
        expect(await outcomes.get(keyOf(each, of))).to.deep.equal(await outcomes.get(keyOf(each, 'nothing')))
      })
  })
