import type { SimulatedObject } from '../judge/history'
import { lockSection } from '../lock-section'
import { repeat } from '../operation'
import type { Scene } from '../scene'
import { lockOf } from './lock-of'

/** Some of them last for minutes. */
const MOST_SECTIONS = 8

const KINDS = ['lock', 'fair', 'fenced', 'token', 'read', 'write'] as const

export const limited: Scene = {
  name: 'limited',
  about: 'locks with a maxHoldTime, and sections that last longer',
  setUp(choices) {
    const kind = choices.pick(KINDS)
    const object: SimulatedObject = { kind, name: 'one' }
    return {
      objects: [object],
      caller(caller) {
        const { settings, choices: own } = caller
        const sections = Math.min(settings.sections, MOST_SECTIONS)
        return repeat(caller, sections, () => {
          const limit = settings.watchdogTimeout * own.pick([1.5, 0.2, 1, 3])
          const length = [1, 10, limit / 2, limit * 0.9, limit * 1.5, limit * 4][
            own.weigh([2, 2, 1, 1, 2, 1])
          ]!
          return lockSection(caller, object, lockOf(caller.redisson, object), {
            mayReenter: kind !== 'token',
            way: { lease: undefined, limit, length },
          })
        })
      },
    }
  },
}
