import { expect } from 'chai'
import type { Lease } from '../../../src/leases/lease'
import { LeaseBook } from '../../../src/leases/lease-book'
import { LeaseRegistry } from '../../../src/leases/lease-monitor'
import { SelfDeadlockWarning } from '../../../src/waiting/self-deadlock-warning'
import { VirtualClock } from '../../kit/virtual-clock'

describe('When RLOCK_SELF_WAIT comes', () => {
  let clock: VirtualClock
  let seen: string[]

  const note = (warning: Error & { code?: string }) => {
    if (warning.code === 'RLOCK_SELF_WAIT' && warning.message.includes('self-wait of'))
      seen.push(warning.message)
  }
  const warned = async () => {
    await new Promise((resolve) => setImmediate(resolve))
    return seen
  }

  beforeEach(() => {
    clock = new VirtualClock()
    seen = []
    process.on('warning', note)
  })
  afterEach(() => void process.off('warning', note))

  function held(name: string, objectId = `lock ${name}`): Lease {
    return {
      objectId,
      leased: { name, key: name, objectId, relatedIds: [objectId] },
      book: new LeaseBook(clock, clock.now(), 30_000),
      holder: 'thread id 1',
    } as unknown as Lease
  }

  it('RLOCK_SELF_WAIT comes once a name, also if many holds of that name keep callers waiting', async () => {
    const registry = new LeaseRegistry()
    const warning = new SelfDeadlockWarning(clock, registry, 'client a')
    for (const name of ['self-wait of a', 'self-wait of a', 'self-wait of b']) {
      const hold = held(name)
      registry.add(hold)
      const joined = clock.now()
      const stop = warning.watch(hold.leased, () => [{ joined }])
      clock.advance(11_000)
      stop()
      registry.delete(hold)
    }
    expect(await warned()).to.have.length(2)
    for (const message of seen) expect(message).to.include('(client client a, thread id 1)')
  })

  it('RLOCK_SELF_WAIT comes to readers behind a writer, and not behind another reader', async () => {
    const registry = new LeaseRegistry()
    const warning = new SelfDeadlockWarning(clock, registry, 'client a')
    const key = 'self-wait of readers'
    const readers = { key, relatedIds: [`read ${key}`, `write ${key}`], exclusiveLockId: `write ${key}` }
    const joined = clock.now()
    const stop = warning.watch(readers, () => [{ joined }])
    registry.add(held(key, `read ${key}`))
    clock.advance(11_000)
    expect(await warned()).to.have.length(0)
    registry.add(held(key, `write ${key}`))
    clock.advance(11_000)
    expect(await warned()).to.have.length(1)
    stop()
  })
})
