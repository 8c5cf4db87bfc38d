import type { Redisson } from '../../../../src/index'
import { type CyclesOrder, type CyclesResult, KEPT } from '../messages'
import { footprint, phase, spread } from './measuring'
import { reporting } from './parent'

type Way = (redisson: Redisson, name: string, index: number) => Promise<unknown>

/** In every way there is to lock and unlock, one name each; some with a waiter, so that there is a subscription. */
export const LOCKS: readonly Way[] = [
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

async function withWaiter(lock: Pick<ReturnType<Redisson['getLock']>, 'acquire' | 'withLock'>) {
  const hold = await lock.acquire()
  const waiting = lock.withLock(() => {})
  await hold.unlock()
  await waiting
}

/** The same of every other object. What stays in Redis by design has a name that says so. */
export const OBJECTS: readonly Way[] = [
  (redisson, name) => withWaiter(redisson.getFairLock(name)),
  (redisson, name) => withWaiter(redisson.getSpinLock(name)),
  (redisson, name) => withWaiter(redisson.getNonReentrantLock(name)),
  (redisson, name) => withWaiter(redisson.getTokenLock(name)),
  (redisson, name) => redisson.getFencedLock(name).withLock(({ token }) => token),
  (redisson, name) =>
    redisson.getMultiLock(redisson.getLock(name), redisson.getFairLock(`${name}:2`)).withLock(() => {}),
  async (redisson, name) => {
    const semaphore = redisson.getSemaphore(`${KEPT}${name}`)
    await semaphore.trySetPermits(1)
    await semaphore.acquire()
    const waiting = semaphore.withPermits(() => {})
    await semaphore.release()
    await waiting
    await semaphore.tryAcquire(2, 1)
  },
  async (redisson, name) => {
    const permits = redisson.getPermitExpirableSemaphore(`${KEPT}${name}`)
    await permits.setPermits(1)
    const permit = await permits.acquirePermit()
    const waiting = permits.acquire()
    await permit.release()
    await permits.release(await waiting)
  },
  async (redisson, name) => {
    const latch = redisson.getCountDownLatch(name)
    await latch.trySetCount(1)
    const waiting = Promise.all([latch.await(), latch.await({ waitTime: 60_000 })])
    await latch.countDown()
    await waiting
  },
]

const AT_ONCE = 200

export async function cycles(redisson: Redisson, { count, of }: CyclesOrder): Promise<CyclesResult> {
  const ways = of === 'locks' ? LOCKS : OBJECTS
  let done = 0
  const cycle = (label: string) => async (index: number) => {
    await ways[index % ways.length]!(redisson, `endurance:${label}:${index}`, index)
    done++
  }
  // Until code is compiled and the pools of the runtime have grown, memory would tell of them.
  await spread(Math.max(10_000, count / 20), AT_ONCE, cycle('warm-up'))
  const before = await footprint(redisson)
  done = 0
  const reported = reporting(() => `${done} of ${count} cycles`)
  const work = await phase(() => spread(count, AT_ONCE, cycle('cycle')))
  reported()
  return { part: 'cycles', count, of, work, before, after: await footprint(redisson) }
}
