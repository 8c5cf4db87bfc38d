import { expect } from 'chai'
import { Lease, type LossReason } from '../../../src/leases/lease'
import { LeaseBook } from '../../../src/leases/lease-book'
import { LeaseMonitor } from '../../../src/leases/lease-monitor'
import type { Leased, Renewal } from '../../../src/leases/leased'
import type { WatchdogOptions } from '../../../src/leases/watchdog'
import { VirtualClock } from '../../kit/virtual-clock'

const LIMIT = 1_500

class LimitedLease extends Lease {
  readonly needsWatchdog = true
  readonly holder = 'test'
  readonly leased: Leased
  readonly ownerField = 'owner'
  readonly book: LeaseBook
  readonly lost: { at: number; reason: LossReason }[] = []

  constructor(
    private readonly clock: VirtualClock,
    renewal: Renewal,
  ) {
    const names = { kind: 'lock', name: 'x', objectId: 'x', relatedIds: [], key: 'x', channel: 'x' }
    super()
    this.book = new LeaseBook(clock, clock.now(), 900, LIMIT)
    this.leased = { ...names, renewal }
  }

  lose(reason: LossReason): void {
    this.lost.push({ at: this.clock.now().monotonic, reason })
    this.end('lost', undefined, reason)
  }

  renewalFailed(): void {}
}

/** One lease of 900 ms with a limit. `acknowledged`: whether a replica has the renewals. */
function scene(acknowledged: (renewals: number) => boolean) {
  const clock = new VirtualClock()
  const asked: (readonly [at: number, lasts: number])[] = []
  const renew = (_scripts: unknown, _leases: unknown, lasts: number) => {
    const sent = clock.now()
    asked.push([sent.monotonic, lasts])
    return { answer: Promise.resolve({ value: [1], sent, acknowledged: acknowledged(asked.length) }) }
  }
  const options = { clock, lockWatchdogTimeout: 900, lockWatchdogBatchSize: 100, isCluster: false }
  const monitor = new LeaseMonitor(options as unknown as WatchdogOptions)
  const lease = new LimitedLease(clock, { renew } as unknown as Renewal)
  monitor.begin(lease)
  const until = async (time: number) => {
    while (clock.now().monotonic < time) {
      clock.advance(1)
      await new Promise(setImmediate)
    }
  }
  return { clock, asked, monitor, lease, until }
}

describe('The limit of a lease, on a virtual clock (guarantee 6)', () => {
  it('A lease is renewed until one lasts until the limit, and is lost a margin before it', async () => {
    const { asked, lease, monitor, until } = scene(() => true)
    await until(1_600)
    for (const [at, lasts] of asked) expect(at + lasts).to.be.at.most(LIMIT + 1)
    const [at, lasts] = asked.at(-1)!
    expect(at + lasts).to.be.at.least(LIMIT - 1)
    expect(asked.length).to.be.within(2, 3)
    expect(lease.lost).to.have.lengthOf(1)
    expect(lease.lost[0]!.reason).to.equal('limit')
    expect(lease.lost[0]!.at).to.be.within(LIMIT - 155, LIMIT - 140)
    monitor.stop()
  })

  it('A lease that lasts until its limit is renewed again where a failover may have undone that', async () => {
    const { asked, lease, monitor, until } = scene((renewals) => renewals !== 2)
    await until(650)
    expect(asked).to.have.lengthOf(2)
    monitor.failedOver()
    await until(750)
    expect(asked).to.have.lengthOf(3)
    await until(1_600)
    expect(lease.lost.map(({ reason }) => reason)).to.deep.equal(['limit'])
    monitor.stop()
  })

  it('A lease that is not renewed in time is lost with its lease, before the limit', async () => {
    const { lease, monitor, until } = scene(() => true)
    Object.assign(lease, { needsWatchdog: false })
    await until(1_000)
    expect(lease.lost.map(({ reason }) => reason)).to.deep.equal(['lease'])
    monitor.stop()
  })
})
