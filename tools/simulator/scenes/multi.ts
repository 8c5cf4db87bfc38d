import type { SimulatedObject } from '../judge/history'
import { lockSection } from '../lock-section'
import type { Scene } from '../scene'

const NAMES = ['a', 'b', 'c']
/** Sets that overlap, in different orders. */
const SETS = [
  ['a', 'b'],
  ['b', 'a'],
  ['b', 'c'],
  ['c', 'a', 'b'],
]

export const multi: Scene = {
  name: 'multi',
  about: 'multi locks whose members overlap, beside callers of single members',
  setUp() {
    const single = (name: string): SimulatedObject => ({ kind: 'lock', name })
    const sets = SETS.map(
      (names): SimulatedObject => ({ kind: 'multi', name: names.join('+'), members: names.map(single) }),
    )
    return {
      objects: [...NAMES.map(single), ...sets],
      async caller(caller) {
        const { settings, redisson, choices } = caller
        for (let section = 0; section < settings.sections; section++) {
          const object = choices.weigh([2, 1]) === 0 ? choices.pick(sets) : single(choices.pick(NAMES))
          const members = (object.members ?? []).map(({ name }) => redisson.getLock(name))
          const lock = object.members ? redisson.getMultiLock(...members) : redisson.getLock(object.name)
          await lockSection(caller, object, lock, { mayReenter: false })
          await caller.sleep(choices.pick([0, 1, 5]))
        }
      },
    }
  },
}
