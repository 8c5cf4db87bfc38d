import type { SimulatedObject } from '../judge/history'
import { lockSection } from '../lock-section'
import type { Scene } from '../scene'

export const readWrite: Scene = {
  name: 'read-write',
  about: 'a read-write lock: readers, writers, and writers that step down to readers',
  setUp(choices) {
    const names = choices.pick([['one'], ['one', 'two']])
    const objects = names.flatMap((name): SimulatedObject[] => [
      { kind: 'read', name },
      { kind: 'write', name },
    ])
    return {
      objects,
      async caller(caller) {
        const { settings, redisson, choices: own } = caller
        for (let section = 0; section < settings.sections; section++) {
          const name = own.pick(names)
          const lock = redisson.getReadWriteLock(name)
          const reads = own.weigh([1, 1]) === 0
          const object: SimulatedObject = { kind: reads ? 'read' : 'write', name }
          const stepsDown = !reads && own.happens(0.2)
          // Readers with different leases are inside together for a while.
          const length = reads ? own.pick([undefined, undefined, 30, 100, 400]) : undefined
          await lockSection(caller, object, reads ? lock.readLock() : lock.writeLock(), {
            ...(length === undefined ? {} : { way: { length } }),
            ...(stepsDown ? { stepsDownTo: { object: { kind: 'read', name }, lock: lock.readLock() } } : {}),
          })
          await caller.sleep(own.pick([0, 1, 5]))
        }
      },
    }
  },
}
