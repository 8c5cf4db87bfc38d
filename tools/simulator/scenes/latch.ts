import type { SimulatedObject } from '../judge/history'
import { abortAfter, look, operation, repeat, told } from '../operation'
import type { Caller, Scene } from '../scene'
import { javaLatchStep, javaThreads } from './java'

/** A generation may never be counted down, so that no caller waits for ever. */
const LONGEST_WAIT = 4_000

/** One step of one caller: it sets the latch, counts it down, awaits it, or looks. */
export async function latchStep(caller: Caller, object: SimulatedObject, count: number): Promise<void> {
  const { choices, redisson, recorder } = caller
  const latch = redisson.getCountDownLatch(object.name)
  const owner = `${caller.name}.${caller.count()}`
  switch (choices.weigh([6, 3, 2, 1])) {
    case 0: {
      recorder.sections++
      await operation(caller, owner, { object, operation: 'count-down' }, () => latch.countDown())
      return
    }
    case 1: {
      recorder.sections++
      const wait = [LONGEST_WAIT, 0, 5, 500][choices.weigh([4, 1, 1, 1])]!
      const aborts = choices.happens(0.1)
      const options = aborts
        ? { waitTime: wait, signal: abortAfter(caller, choices.pick([0, 1, 20])) }
        : { waitTime: wait }
      await operation(caller, owner, { object, operation: 'await', wait }, () => latch.await(options), told)
      return
    }
    case 2: {
      const set = { object, operation: 'set', units: count } as const
      await operation(caller, owner, set, () => latch.trySetCount(count), told)
      return
    }
    default:
      await look(caller, owner, { object, as: 'getCount' }, () => latch.getCount())
  }
}

export const latch: Scene = {
  name: 'latch',
  about: 'a latch that is set anew when it has opened, counted down and awaited by all clients',
  setUp(choices) {
    const object = { kind: 'latch', name: 'gate' } as const
    const count = choices.pick([2, 1, 3, 6])
    return {
      objects: [object],
      javaCaller: javaThreads((caller) => javaLatchStep(caller, object, count)),
      caller(caller) {
        return repeat(caller, 2 * caller.settings.sections, () => latchStep(caller, object, count))
      },
    }
  },
}
