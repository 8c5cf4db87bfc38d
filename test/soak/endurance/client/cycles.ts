import type { Redisson } from '../../../../src/index'
import type { CyclesOrder, CyclesResult } from '../messages'
import { footprint, phase, spread } from './measuring'
import { reporting } from './parent'

const AT_ONCE = 200

/** In every way there is to lock and unlock, one name each; some with a waiter, so that there is a subscription. */
const WAYS: readonly ((redisson: Redisson, name: string, index: number) => Promise<unknown>)[] = [
  async (redisson, name) => {
    const lock = redisson.getLock(name)
    await lock.lock()
    await lock.unlock()
  },
  (redisson, name) =>
    redisson.run(async () => {
      const lock = redisson.getLock(name)
      await lock.lock()
      await lock.tryLock(100, 5_000)
      await lock.unlock()
      await lock.unlock()
    }),
  (redisson, name) => redisson.getLock(name).withLock((hold) => hold.signal),
  async (redisson, name, index) => {
    const lock = redisson.getLock(name)
    await lock.lock({ threadId: index + 1, leaseTime: 60_000 })
    await lock.unlock({ threadId: index + 1 })
  },
  async (redisson, name) => {
    const hold = await redisson.getLock(name).acquire()
    const waiting = redisson.getLock(name).withLock(() => {})
    await hold.unlock()
    await waiting
  },
  (redisson, name) =>
    redisson
      .getReadWriteLock(name)
      .readLock()
      .withLock(() => {}),
  (redisson, name) =>
    redisson
      .getReadWriteLock(name)
      .writeLock()
      .withLock(() => {}),
  async (redisson, name) => await (await redisson.getLock(name).tryAcquire({ leaseTime: 60_000 }))?.unlock(),
]

export async function cycles(redisson: Redisson, { count }: CyclesOrder): Promise<CyclesResult> {
  let done = 0
  const cycle = (label: string) => async (index: number) => {
    await WAYS[index % WAYS.length]!(redisson, `endurance:${label}:${index}`, index)
    done++
  }
  // Until code is compiled and the pools of the runtime have grown, memory would tell of them.
  await spread(Math.max(10_000, count / 20), AT_ONCE, cycle('warm-up'))
  const before = await footprint(redisson)
  done = 0
  const reported = reporting(() => `${done} of ${count} cycles`)
  const work = await phase(() => spread(count, AT_ONCE, cycle('cycle')))
  reported()
  return { part: 'cycles', count, work, before, after: await footprint(redisson) }
}
