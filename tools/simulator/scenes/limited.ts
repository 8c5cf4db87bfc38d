import type { SimulatedObject } from '../judge/history'
import { type Holdable, lockSection } from '../lock-section'
import type { Caller, Scene } from '../scene'

/** Some of them last for minutes. */
const MOST_SECTIONS = 8

const KINDS = ['lock', 'fair', 'fenced', 'token', 'read', 'write'] as const

function lockOf({ redisson }: Caller, { kind, name }: SimulatedObject): Holdable {
  if (kind === 'fair') return redisson.getFairLock(name)
  if (kind === 'fenced') return redisson.getFencedLock(name)
  if (kind === 'token') return redisson.getTokenLock(name)
  if (kind === 'read') return redisson.getReadWriteLock(name).readLock()
  if (kind === 'write') return redisson.getReadWriteLock(name).writeLock()
  return redisson.getLock(name)
}

export const limited: Scene = {
  name: 'limited',
  about: 'locks with a maxHoldTime, and sections that last longer',
  setUp(choices) {
    const kind = choices.pick(KINDS)
    const object: SimulatedObject = { kind, name: 'one' }
    return {
      objects: [object],
      async caller(caller) {
        const { settings, choices: own } = caller
        const sections = Math.min(settings.sections, MOST_SECTIONS)
        for (let section = 0; section < sections; section++) {
          const limit = settings.watchdogTimeout * own.pick([1.5, 0.2, 1, 3])
          const length = [1, 10, limit / 2, limit * 0.9, limit * 1.5, limit * 4][
            own.weigh([2, 2, 1, 1, 2, 1])
          ]!
          await lockSection(caller, object, lockOf(caller, object), {
            mayReenter: kind !== 'token',
            way: { lease: undefined, limit, length },
          })
          await caller.sleep(own.pick([0, 1, 5]))
        }
      },
    }
  },
}
