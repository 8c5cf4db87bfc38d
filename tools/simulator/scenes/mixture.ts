import { lockSection } from '../lock-section'
import { operation } from '../operation'
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
        const told = (ok: boolean) => ({ ok })
        const { redisson } = caller
        const set = { operation: 'set', units: total } as const
        const plain = redisson.getSemaphore(SEMAPHORE.name)
        const leased = redisson.getPermitExpirableSemaphore(PERMITS.name)
        await operation(
          caller,
          'first',
          { ...set, object: SEMAPHORE },
          () => plain.trySetPermits(total),
          told,
        )
        await operation(caller, 'first', { ...set, object: PERMITS }, () => leased.trySetPermits(total), told)
      },
      async caller(caller) {
        const { choices: own, settings, redisson } = caller
        for (let section = 0; section < settings.sections; section++) {
          const which = own.choose(4)
          if (which === 0) await lockSection(caller, LOCK, redisson.getLock(LOCK.name))
          if (which === 1) await semaphoreSection(caller, SEMAPHORE, total)
          if (which === 2) await permitSection(caller, PERMITS)
          if (which === 3) await latchStep(caller, LATCH, 2)
          await caller.sleep(own.pick([0, 1, 5]))
        }
      },
    }
  },
}
