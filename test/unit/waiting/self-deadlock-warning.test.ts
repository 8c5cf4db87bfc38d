import { expect } from 'chai'
import type { Lease } from '../../../src/leases/lease'
import { LeaseBook } from '../../../src/leases/lease'
import type { LeaseRegistry } from '../../../src/leases/lease-monitor'
import { SelfDeadlockWarning } from '../../../src/waiting/self-deadlock-warning'
import { VirtualClock } from '../../kit/virtual-clock'

describe('How often RLOCK_SELF_WAIT comes', () => {
  it('RLOCK_SELF_WAIT comes once a name, also if many holds of that name keep callers waiting', async () => {
    const clock = new VirtualClock()
    const seen: string[] = []
    const note = (warning: Error & { code?: string }) => {
      if (warning.code === 'RLOCK_SELF_WAIT' && warning.message.includes('once a name'))
        seen.push(warning.message)
    }
    process.on('warning', note)
    try {
      const warning = new SelfDeadlockWarning(
        clock,
        registryOf(() => hold),
        'client a',
      )
      let hold = heldLock('once a name: a')
      for (const name of ['once a name: a', 'once a name: a', 'once a name: b']) {
        hold = heldLock(name)
        const joined = clock.now()
        const stop = warning.watch(hold.leased, () => [{ joined }])
        clock.advance(11_000)
        stop()
      }
      await new Promise((resolve) => setImmediate(resolve))
      expect(seen).to.have.length(2)
      for (const message of seen) expect(message).to.include('(client client a, thread id 1)')

      function heldLock(lockName: string): Lease {
        return {
          objectId: `lock ${lockName}`,
          leased: { name: lockName, key: lockName },
          book: new LeaseBook(clock, clock.now(), 30_000),
          holder: 'thread id 1',
        } as Lease
      }
    } finally {
      process.off('warning', note)
    }
  })
})

function registryOf(first: () => Lease): LeaseRegistry {
  return { first } as unknown as LeaseRegistry
}
