import type { SimulatedObject } from '../judge/history'
import { lockSection } from '../lock-section'
import type { Caller, Scene } from '../scene'

const OBJECTS: readonly SimulatedObject[] = [
  { kind: 'lock', name: 'one' },
  { kind: 'lock', name: 'two' },
]

export const siblings: Scene = {
  name: 'siblings',
  about: 'logical threads whose branches take the lock of their parent, and another one, at the same time',
  setUp() {
    return {
      objects: OBJECTS,
      async caller(caller) {
        const { settings, choices } = caller
        for (let section = 0; section < settings.sections / 2; section++) {
          await family(caller)
          await caller.sleep(choices.pick([0, 1, 5]))
        }
      },
    }
  },
}

/** A thread that holds the first lock, and branches below it that take the second. */
async function family(caller: Caller): Promise<void> {
  const { redisson, choices } = caller
  const [outer, inner] = OBJECTS
  const branches = choices.weigh([1, 2, 1]) + 1
  await lockSection(caller, outer!, redisson.getLock('one'), {
    mayReenter: false,
    inside: async () => {
      const below = Array.from({ length: branches }, () =>
        lockSection(caller, inner!, redisson.getLock('two'), {
          // Each branch needs a thread of its own: `withLock` opens one below that of its parent.
          ...{ mayReenter: false, mayScope: false, as: 'withLock' },
        }),
      )
      await Promise.all(below)
    },
  })
}
