import { expect } from 'chai'
import type { Redisson, RLock } from '../../src/index'
import { closeAll, createRedisson, uniqueName } from '../kit/clients'
import { deferred } from '../kit/observing'
import { startStandalone, waitUntil } from '../kit/servers/index'

type Sides = Record<string, RLock>

describe('The RLOCK_SELF_WAIT warning across the clients of one process', () => {
  let holder: Redisson
  let waiting: Redisson
  let name: string
  let warnings: (Error & { code?: string })[]
  const note = (warning: Error & { code?: string }) => {
    if (warning.code === 'RLOCK_SELF_WAIT' && warning.message.includes('self-wait')) warnings.push(warning)
  }

  beforeEach(async () => {
    holder = await createRedisson()
    waiting = await createRedisson()
    name = uniqueName('self-wait')
    warnings = []
    process.on('warning', note)
  })
  afterEach(async () => {
    process.off('warning', note)
    await closeAll()
  })

  const sides = (client: Redisson, of: string): Sides => ({
    lock: client.getLock(of),
    read: client.getReadWriteLock(of).readLock(),
    write: client.getReadWriteLock(of).writeLock(),
  })

  it('A thread that holds a lock through one client and waits for it through another is warned of once by RLOCK_SELF_WAIT, with both clients', async () => {
    const nested = async (held: string, wanted: string) => {
      const name = uniqueName('self-wait-pair')
      const [outer, inner] = [holder, waiting].map((client) => sides(client, name)) as [Sides, Sides]
      await holder.run(async () => {
        await outer[held]!.lock()
        const branch = waiting.getLock(uniqueName()).withLock(() => inner[wanted]!.tryLock(11_000))
        const about = () => warnings.filter(({ message }) => message.includes(name))
        await waitUntil(`${wanted} in ${held} is warned of`, () => about().length > 0, 9_000)
        expect(about()[0]!.message).to.include(holder.getId()).and.to.include(waiting.getId())
        await outer[held]!.unlock()
        expect(await branch).to.equal(true)
        expect(about()).to.have.length(1)
        await inner[wanted]!.forceUnlock()
      })
    }
    await Promise.all([
      nested('lock', 'lock'),
      nested('write', 'write'),
      nested('write', 'read'),
      nested('read', 'write'),
    ])
  })

  it('The RLOCK_SELF_WAIT warning comes though other callers of the client wait before that thread', async () => {
    const abort = new AbortController()
    await holder.getLock(name).withLock(async () => {
      const lock = waiting.getLock(name)
      const stranger = waiting.run(() => lock.lock({ signal: abort.signal })).catch(() => {})
      const own = lock.lock({ signal: abort.signal }).catch(() => {})
      await waitUntil('the warning comes', () => warnings.length > 0, 12_000)
      abort.abort()
      await Promise.all([stranger, own])
    })
  })

  it('No RLOCK_SELF_WAIT warning comes when the lock of that name is on another server', async () => {
    const elsewhere = await startStandalone()
    try {
      const other = await createRedisson({ redis: elsewhere.url })
      const third = await createRedisson({ redis: elsewhere.url })
      const held = await third.getLock(name).acquire()
      await holder.run(async () => {
        await holder.getLock(name).lock()
        expect(await other.getLock(name).tryLock(5_600)).to.equal(false)
        await holder.getLock(name).unlock()
      })
      await held.unlock()
      expect(warnings).to.deep.equal([])
    } finally {
      await closeAll()
      await elsewhere.stop()
    }
  })

  it('The RLOCK_SELF_WAIT warning comes for a branch that waits for a sibling that waits for it', async () => {
    const lock = holder.getLock(name)
    const abort = new AbortController()
    await lock.withLock(async () => {
      const entered = deferred()
      const outside = holder.getLock(uniqueName()).withLock(async () => {
        await entered.promise
        await lock.lock({ signal: abort.signal }).catch(() => {})
      })
      await lock.withLock(async () => {
        entered.resolve()
        await waitUntil('the warning comes', () => warnings.length > 0, 9_000)
        abort.abort()
        await outside
      })
    })
    expect(warnings[0]!.message).to.include('branches')
  })
})
