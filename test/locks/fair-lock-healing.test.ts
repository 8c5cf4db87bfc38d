import { expect } from 'chai'
import { timed } from '../kit/clients'
import { waitUntil } from '../kit/servers/index'
import { fairScene } from './fair-scene'

const ALLOWANCE = 900
const HEALED_WITHIN = 5_000
const TEN_MINUTES = 600_000

describe('A queue of a fair lock whose list and set disagree', () => {
  const scene = fairScene()

  const DAMAGES = {
    'a head without a score': (head: string) => scene.redis.zrem(scene.java.timeouts, head),
    'a score without a place': (head: string) => scene.redis.lrem(scene.java.queue, 0, head),
    'no scores at all': () => scene.redis.del(scene.java.timeouts),
    'no places at all': () => scene.redis.del(scene.java.queue),
    'a place that stands twice': (head: string) => scene.redis.rpush(scene.java.queue, head),
  }

  for (const [damage, inflict] of Object.entries(DAMAGES))
    it(`Each script of a fair lock heals ${damage} (E9)`, async () => {
      const redisson = await scene.open()
      const lock = scene.lockOf(redisson)
      const staying = new AbortController()
      const scripts: Record<string, () => unknown> = {
        acquire: () => lock.tryLock(),
        release: () => lock.unlock({ threadId: 1 }),
        'force-release': () => lock.forceUnlock(),
        leave: () => staying.abort(new Error('enough')),
        // The waiter sends it by itself.
        refresh: () => {},
      }
      for (const [script, act] of Object.entries(scripts)) {
        await scene.redis.del(scene.name, scene.java.queue, scene.java.timeouts)
        await lock.lock({ threadId: 1 })
        await scene.java.enter(2, TEN_MINUTES)
        await scene.java.enter(3, TEN_MINUTES)
        if (script === 'leave') await scene.waiting(lock, staying.signal)
        const refreshing = new AbortController()
        if (script === 'refresh') await scene.waiting(scene.lockOf(redisson, 300), refreshing.signal)
        await inflict((await scene.java.head())!)
        await act()
        await waitUntil(`${script} has healed it`, isConsistent, HEALED_WITHIN)
        refreshing.abort(new Error('enough'))
        await lock.unlock({ threadId: 1 }).catch(() => {})
      }
    })

  async function isConsistent() {
    const owners = await scene.java.places()
    const scored = await scene.redis.zrange(scene.java.timeouts, 0, '-1')
    return (
      owners.length >= 2 &&
      new Set(owners).size === owners.length &&
      owners.toSorted().join() === scored.map(String).toSorted().join()
    )
  }

  it('A head without a score lapses, and the next one enters (E9)', async () => {
    await scene.java.take()
    const head = await scene.java.enter(2, TEN_MINUTES)
    const { acquired } = await scene.waiting(scene.lockOf(await scene.open(), ALLOWANCE))
    await scene.redis.zrem(scene.java.timeouts, head)
    await scene.java.vanish()
    expect(await timed(() => acquired)).to.be.lessThan(2 * ALLOWANCE + 1_000)
  })
})
