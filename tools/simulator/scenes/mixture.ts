import { lockSection } from '../lock-section'
import { repeat, setFirst } from '../operation'
import type { Scene } from '../scene'
import { latchStep } from './latch'
import { permitSection } from './permits'
import { semaphoreSection } from './semaphore'

const LOCK = { kind: 'lock', name: 'one' } as const
const SEMAPHORE = { kind: 'semaphore', name: 'permits' } as const
const PERMITS = { kind: 'permits', name: 'leased' } as const
const LATCH = { kind: 'latch', name: 'gate' } as const

export const mixture: Scene = {
  name: 'mixture',
  about: 'a lock, both semaphores and a latch, used by the same callers',
  setUp(choices) {
    const total = choices.pick([2, 1])
    return {
      objects: [LOCK, SEMAPHORE, PERMITS, LATCH],
      async begin(caller) {
        const { redisson } = caller
        const plain = redisson.getSemaphore(SEMAPHORE.name)
        const leased = redisson.getPermitExpirableSemaphore(PERMITS.name)
        await setFirst(caller, SEMAPHORE, total, () => plain.trySetPermits(total))
        await setFirst(caller, PERMITS, total, () => leased.trySetPermits(total))
      },
      caller(caller) {
        const { choices: own, settings, redisson } = caller
        return repeat(caller, settings.sections, () => {
          const which = own.choose(4)
          if (which === 0) return lockSection(caller, LOCK, redisson.getLock(LOCK.name))
          if (which === 1) return semaphoreSection(caller, SEMAPHORE, total)
          if (which === 2) return permitSection(caller, PERMITS)
          return latchStep(caller, LATCH, 2)
        })
      },
    }
  },
}
