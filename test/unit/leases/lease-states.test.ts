import { channel } from 'node:diagnostics_channel'
import { expect } from 'chai'
import { Lease } from '../../../src/leases/lease'
import { LeaseBook } from '../../../src/leases/lease-book'
import type { Leased } from '../../../src/leases/leased'
import { VirtualClock } from '../../kit/virtual-clock'

const NAMES = { kind: 'lock', name: 'x', objectId: 'x', relatedIds: [], key: 'x', channel: 'x' }
const ENDS = ['released', 'expired', 'lost'] as const

const clock = new VirtualClock()

class PlainLease extends Lease {
  readonly leased = NAMES as unknown as Leased
  readonly ownerField = 'owner'
  readonly needsWatchdog = true
  readonly holder = 'test'
  readonly book = new LeaseBook(clock, clock.now(), 900)

  lose(): void {}
  renewalFailed(): void {}
}

describe('The states of a lease', () => {
  const ended = channel('tracing:rlock:hold:asyncEnd')
  let outcomes: unknown[]
  const note = (message: unknown) => void outcomes.push((message as { outcome: unknown }).outcome)
  let lease: PlainLease

  beforeEach(() => {
    outcomes = []
    ended.subscribe(note)
    lease = new PlainLease()
    lease.trace({ clientId: 'c', address: 'a' }, clock)
  })
  afterEach(() => void ended.unsubscribe(note))

  for (const end of ENDS)
    for (const first of ['held', 'releasing'] as const)
      it(`A lease that is ${first} and then ${end} stays so, and tells its end once`, () => {
        if (first === 'releasing') lease.beginRelease()
        expect([lease.state, lease.hasEnded]).to.deep.equal([first, false])
        const error = new Error('first')
        lease.end(end, error, end === 'released' ? undefined : 'gone')
        lease.beginRelease()
        for (const later of ENDS) lease.end(later, new Error('later'), 'forced')
        expect([lease.state, lease.hasEnded, outcomes]).to.deep.equal([end, true, [end]])
        expect(lease.lossReason).to.equal(end === 'released' ? undefined : 'gone')
        expect(lease.signal.aborted).to.equal(end !== 'released')
        if (lease.signal.aborted) expect(lease.signal.reason).to.equal(error)
      })

  it('A lease whose client is shut down can still be released, and tells one end', () => {
    const error = new Error('shut down')
    lease.shutDown(error)
    expect([lease.state, lease.signal.reason, outcomes]).to.deep.equal(['held', error, ['shutdown']])
    lease.beginRelease()
    lease.end('released')
    expect([lease.state, outcomes]).to.deep.equal(['released', ['shutdown']])
  })
})
