import { getEventListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Redisson } from '../../../../src/index'
import { listenersAround } from '../../../kit/listeners-around'
import type { WaitersOrder, WaitersResult } from '../messages'
import { footprint, phase } from './measuring'
import { ask, reporting } from './parent'

/** Every tenth waiter gives up by its wait, every tenth by a signal that all of those share. */
const WAIT_TIME = 1_500
const ALL_WAIT = 1_000

interface Crowd {
  readonly joining: WaitersResult['joining']
  readonly serving: WaitersResult['serving']
  readonly waiting: WaitersResult['waiting']
  readonly listenersWhileWaiting: number
  readonly tally: { acquired: number; timedOut: number; aborted: number }
}

/** All want one lock, which another client holds meanwhile. */
async function crowd(redisson: Redisson, holder: Redisson, name: string, count: number): Promise<Crowd> {
  const tally = { acquired: 0, timedOut: 0, aborted: 0 }
  const lock = redisson.getLock(name)
  const abort = new AbortController()
  const wait = async (index: number) => {
    if (index % 10 === 0) {
      if (await lock.tryLock({ waitTime: WAIT_TIME, threadId: index + 1 })) throw new Error('barged in')
      tally.timedOut++
    } else if (index % 10 === 1) {
      await lock
        .withLock(() => {}, { signal: abort.signal })
        .catch((error: Error) => {
          if (error.name !== 'AbortError') throw error
          tally.aborted++
        })
    } else {
      await lock.withLock(() => {})
      tally.acquired++
    }
  }
  const hold = await holder.getLock(name).acquire()
  let crowd: Promise<unknown> = Promise.resolve()
  const joining = await phase(async () => {
    crowd = Promise.all(Array.from({ length: count }, (_, index) => wait(index)))
    await sleep(100)
  })
  const [commands, started] = [await ask('commands'), performance.now()]
  const listenersWhileWaiting = listenersAround(redisson) + getEventListeners(abort.signal, 'abort').length
  await sleep(ALL_WAIT)
  const waiting = {
    seconds: (performance.now() - started) / 1_000,
    commands: (await ask('commands')) - commands,
    server: await ask('view'),
  }
  abort.abort()
  await sleep(Math.max(WAIT_TIME - (performance.now() - started), 0))
  const serving = await phase(async () => {
    await hold.unlock()
    await crowd
  })
  return { joining, serving, waiting, listenersWhileWaiting, tally }
}

export async function waiters(
  redisson: Redisson,
  holder: Redisson,
  { count }: WaitersOrder,
): Promise<WaitersResult> {
  const reported = reporting(() => `${count} waiters`)
  await crowd(redisson, holder, 'endurance:warm-up', Math.min(count, 10_000))
  const before = await footprint(redisson)
  const { tally, ...seen } = await crowd(redisson, holder, 'endurance:crowd', count)
  const after = await footprint(redisson)
  reported()
  return { part: 'waiters', count, before, after, ...seen, ...tally }
}
