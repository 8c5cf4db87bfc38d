import { lockSection } from '../lock-section'
import type { Scene } from '../scene'

export const plain: Scene = {
  name: 'plain',
  about: 'one or two plain locks, held in every way',
  setUp(choices) {
    const names = choices.pick([['one'], ['one', 'two']])
    const objects = names.map((name) => ({ kind: 'lock', name }) as const)
    return {
      objects,
      async caller(caller) {
        const { settings, redisson } = caller
        for (let section = 0; section < settings.sections; section++) {
          const object = caller.choices.pick(objects)
          await lockSection(caller, object, redisson.getLock(object.name))
          await caller.sleep(caller.choices.pick([0, 1, 5]))
        }
      },
    }
  },
}
