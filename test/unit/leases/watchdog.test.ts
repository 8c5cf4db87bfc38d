import { channel } from 'node:diagnostics_channel'
import { expect } from 'chai'
import fc from 'fast-check'
import { Lease, type LossReason } from '../../../src/leases/lease'
import { LeaseBook } from '../../../src/leases/lease-book'
import { LeaseMonitor } from '../../../src/leases/lease-monitor'
import type { Leased, Renewal } from '../../../src/leases/leased'
import { Watchdog, type WatchdogOptions } from '../../../src/leases/watchdog'
import { watchedBy } from '../../kit/left-in'
import { VirtualClock } from '../../kit/virtual-clock'

const TIMEOUT = 900
/** How late a renewal may be, in ms: one tick of the event loop renews a bounded number of leases. */
const TOLERANCE = 25
/** How late the report of a loss may be. */
const REPORT_TOLERANCE = 3
const END = 3_000
const MAX_LATENCY = 150

/** A lease that notes when it was renewed and when it was lost. */
class NotedLease extends Lease {
  private static made = 0
  readonly renewedAt: number[] = []
  lostAt: number | undefined
  readonly holder = 'test'
  readonly leased: Leased
  readonly ownerField = `owner ${NotedLease.made++}`
  readonly book: LeaseBook

  constructor(
    private readonly clock: VirtualClock,
    renewal: Renewal,
    readonly needsWatchdog: boolean,
    readonly isAnswered: boolean,
    readonly lasts: number,
  ) {
    const names = {
      kind: 'lock',
      name: 'name',
      objectId: 'id',
      relatedIds: [],
      key: 'key',
      channel: 'channel',
    }
    super()
    this.book = new LeaseBook(clock, clock.now(), lasts)
    this.leased = { ...names, renewal }
  }

  get began(): number {
    return this.book.acquired.monotonic
  }

  lose(reason: LossReason): void {
    this.lostAt = this.clock.now().monotonic
    this.end('lost', undefined, reason)
  }

  renewalFailed(): void {}
}

/** Answers each renewal after so many ms; undefined: never. */
function renewalAfter(clock: VirtualClock, latency: number | undefined): Renewal {
  const renew = (_scripts: unknown, leases: readonly NotedLease[]) => {
    const sent = clock.now()
    for (const lease of leases) lease.renewedAt.push(sent.monotonic)
    const value = leases.map(() => 1)
    const answer = new Promise((resolve) => {
      const reply = { value, sent, hasLostCopy: false, acknowledged: true }
      if (latency !== undefined) clock.after(latency, () => resolve(reply))
    })
    return { answer }
  }
  return { renew } as unknown as Renewal
}

/** Refuses each call that has a lease of this set, as a server does whose user may not access one of the keys. */
function renewalRefusedFor(clock: VirtualClock, refused: ReadonlySet<Lease>): Renewal & { calls: number } {
  const renewal = {
    calls: 0,
    renew(_scripts: unknown, leases: readonly NotedLease[]) {
      renewal.calls++
      const sent = clock.now()
      const answer = async () => {
        const cause = new Error('NOPERM No permissions to access a key')
        if (leases.some((lease) => refused.has(lease))) throw new Error('refused', { cause })
        for (const lease of leases) lease.renewedAt.push(sent.monotonic)
        return { value: leases.map(() => 1), sent, hasLostCopy: false, acknowledged: true }
      }
      return { answer: answer() }
    },
  }
  return renewal as unknown as Renewal & { calls: number }
}

const step = fc.record({
  after: fc.nat(120),
  what: fc.constantFrom('renewed', 'renewed', 'unanswered', 'explicit', 'remove', 'hurry', 'renewAll'),
  lasts: fc.integer({ min: 50, max: 2_000 }),
  which: fc.nat(1_000),
  latency: fc.integer({ min: 1, max: MAX_LATENCY }),
})

/** A lease is hurried just before its renewal is due. */
const HURRIED = [
  { after: 0, what: 'renewed', lasts: 50, which: 0, latency: 1 } as const,
  { after: 296, what: 'hurry', lasts: 50, which: 0, latency: 1 } as const,
]

describe('The watchdog, on a virtual clock', () => {
  for (const crowd of [0, 2_500])
    it(`beside ${crowd} other leases it renews each lease in time, and reports each loss in time`, async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), async (steps) => {
          const clock = new VirtualClock()
          const options = {
            clock,
            lockWatchdogTimeout: TIMEOUT,
            lockWatchdogBatchSize: 100,
            isCluster: false,
          }
          const watchdog = new Watchdog(options as unknown as WatchdogOptions)
          const leases: NotedLease[] = []
          const renewals = new Map<number | undefined, Renewal>()
          const removed = new Map<NotedLease, number>()
          const renewedAfresh: number[] = []
          const add = (needsWatchdog: boolean, lasts: number, latency: number | undefined) => {
            // Leases with the same renewal share a call.
            const renewal = renewals.get(latency) ?? renewalAfter(clock, latency)
            renewals.set(latency, renewal)
            const lease = new NotedLease(clock, renewal, needsWatchdog, latency !== undefined, lasts)
            leases.push(lease)
            watchdog.update(lease)
          }
          for (let index = 0; index < crowd; index++) add(true, TIMEOUT, 5)
          const plan = [...steps]
          let next = plan[0]!.after
          for (let time = 0; time < END; time++) {
            for (; plan.length > 0 && next <= time; next += plan[0]?.after ?? 0) {
              const { what, lasts, which, latency } = plan.shift()!
              const lease = leases[which % leases.length]
              if (what === 'renewed') add(true, TIMEOUT, latency)
              else if (what === 'unanswered') add(true, TIMEOUT, undefined)
              else if (what === 'explicit') add(false, lasts, undefined)
              else if (what === 'renewAll') {
                renewedAfresh.push(time)
                watchdog.renewAll()
              } else if (lease && what === 'hurry') watchdog.hurry(lease)
              else if (lease && !removed.has(lease)) {
                removed.set(lease, time)
                watchdog.remove(lease)
              }
            }
            clock.advance(1)
            // The answers of renewals are promises, and a timer of 0 ms is an immediate.
            await new Promise<void>((resolve) => setImmediate(resolve))
          }
          for (const lease of leases) {
            const until = Math.min(removed.get(lease) ?? END, lease.lostAt ?? END)
            check(lease, until)
            for (const time of renewedAfresh) checkAfresh(lease, time, until)
          }
          for (const lease of leases) watchdog.remove(lease)
          return watchedBy(watchdog).watched === 0 && watchedBy(watchdog).timers === 0
        }),
        { numRuns: crowd ? 6 : 300, examples: [[HURRIED]] },
      )
    })

  it('A listener that works for long puts off no later report', async () => {
    const clock = new VirtualClock()
    const options = { clock, lockWatchdogTimeout: 30_000, lockWatchdogBatchSize: 100, isCluster: false }
    const watchdog = new Watchdog(options as unknown as WatchdogOptions)
    const add = (lasts: number) => {
      const lease = new NotedLease(clock, renewalAfter(clock, undefined), false, false, lasts)
      watchdog.update(lease)
      return lease
    }
    const [slow, next] = [add(300), add(600)]
    slow.signal.addEventListener('abort', () => clock.advance(250))
    for (let time = 0; time < 400 && next.lostAt === undefined; time++) {
      clock.advance(1)
      await new Promise<void>((resolve) => setImmediate(resolve))
    }
    expect(next.lostAt).to.be.within(540, 540 + REPORT_TOLERANCE)
  })

  it('A grant of one owner at a time ends what was granted earlier', () => {
    const clock = new VirtualClock()
    const options = { clock, lockWatchdogTimeout: 30_000, lockWatchdogBatchSize: 100, isCluster: false }
    const monitor = new LeaseMonitor(options as unknown as WatchdogOptions)
    const sent = (objectId: string, shared = false, relatedIds = ['lock', 'other queue']) => {
      clock.advance(1)
      const lease = new NotedLease(clock, renewalAfter(clock, undefined), false, false, 10_000)
      Object.assign(lease.leased, { objectId, relatedIds, shared })
      return lease
    }
    const [earlier, beside, shared, late, another] = [
      sent('lock'),
      sent('another object', false, ['another object']),
      sent('lock', true),
      sent('lock'),
      sent('other queue'),
    ]
    monitor.begin(earlier)
    monitor.begin(beside)
    monitor.begin(shared)
    expect(earlier.lostAt, 'beside a shared one').to.equal(undefined)
    monitor.begin(another)
    monitor.begin(late)
    const ended = [earlier, beside, shared, late, another].map(({ lostAt }) => lostAt !== undefined)
    expect(ended).to.deep.equal([true, false, true, false, false])
    monitor.stop()
  })

  it('A lease that ends in the tick in which it began is not watched, also where it was hurried', async () => {
    const clock = new VirtualClock()
    const options = { clock, lockWatchdogTimeout: TIMEOUT, lockWatchdogBatchSize: 100, isCluster: false }
    const monitor = new LeaseMonitor(options as unknown as WatchdogOptions)
    // biome-ignore lint/complexity/useLiteralKeys: outside of the class only this form reads what is private.
    const watched = () => watchedBy(monitor['watchdog']).watched
    const lease = new NotedLease(clock, renewalAfter(clock, 1), true, true, TIMEOUT)
    monitor.begin(lease)
    monitor.renewNow(lease)
    expect(watched()).to.equal(1)
    monitor.end(lease)
    await new Promise(setImmediate)
    expect(watched()).to.equal(0)
    monitor.stop()
  })

  it('The answer to a renewal is not taken for that of a later one of the same hold', async () => {
    const clock = new VirtualClock()
    const options = { clock, lockWatchdogTimeout: 900, lockWatchdogBatchSize: 100, isCluster: false }
    const watchdog = new Watchdog(options as unknown as WatchdogOptions)
    const answers: ((leaseEnd: number) => void)[] = []
    const renew = () => ({
      answer: new Promise((resolve) => {
        const sent = clock.now()
        answers.push((leaseEnd) => resolve({ value: [leaseEnd], sent, acknowledged: true }))
      }),
    })
    const lease = new NotedLease(clock, { renew } as unknown as Renewal, true, true, 900)
    watchdog.update(lease)
    const until = async (count: number) => {
      for (let time = 0; time < 400 && answers.length < count; time++) clock.advance(1)
      expect(answers).to.have.lengthOf(count)
    }
    await until(1)
    for (const needsWatchdog of [false, true]) {
      Object.assign(lease, { needsWatchdog })
      watchdog.update(lease)
    }
    await until(2)
    answers[0]!(1)
    await new Promise(setImmediate)
    answers[1]!(0)
    await new Promise(setImmediate)
    expect(lease.lostAt).not.to.equal(undefined)
  })

  it('A deadline that is nearer than the resolution of the clock has passed (V136)', async () => {
    const clock = new VirtualClock()
    clock.advance(2 ** 43)
    const options = { clock, lockWatchdogTimeout: 30_000, lockWatchdogBatchSize: 100, isCluster: false }
    const watchdog = new Watchdog(options as unknown as WatchdogOptions)
    const lease = new NotedLease(clock, renewalAfter(clock, undefined), false, false, 100)
    // By the wall clock, what is left may be so little that no time of the other clock shows it.
    lease.book.remaining = () => Math.max(1e-9, 2 ** 43 + 90 - clock.now().monotonic)
    watchdog.update(lease)
    for (let time = 0; time < 95; time++) clock.advance(1)
    for (let turn = 0; turn < 3; turn++) await new Promise<void>((resolve) => setImmediate(resolve))
    expect(lease.lostAt).to.be.within(2 ** 43 + 90, 2 ** 43 + 90 + REPORT_TOLERANCE)
  })

  describe('with two leases or more that share a call', () => {
    const clock = new VirtualClock()
    let watchdog: Watchdog

    beforeEach(() => {
      const options = { clock, lockWatchdogTimeout: TIMEOUT, lockWatchdogBatchSize: 100, isCluster: false }
      watchdog = new Watchdog(options as unknown as WatchdogOptions)
    })

    function watched(renewal: Renewal): NotedLease {
      const lease = new NotedLease(clock, renewal, true, true, TIMEOUT)
      watchdog.update(lease)
      return lease
    }

    /** Until this time has passed. */
    async function pass(ms: number) {
      for (let time = 0; time < ms; time++) {
        clock.advance(1)
        await new Promise<void>((resolve) => setImmediate(resolve))
      }
    }

    it('A subscriber of rlock:renew that releases costs the other lease no renewal (V126)', async () => {
      const renewal = renewalAfter(clock, 1)
      const [released, other] = [watched(renewal), watched(renewal)]
      const release = () => watchdog.remove(released)
      channel('rlock:renew').subscribe(release)
      try {
        await pass(TIMEOUT / 2)
      } finally {
        channel('rlock:renew').unsubscribe(release)
      }
      expect(watchedBy(watchdog)).to.deep.equal({ watched: 1, timers: 1 })
      await pass(END)
      check(other, clock.now().monotonic)
      watchdog.remove(other)
    })

    it('A renewal of several leases that fails with an error without a cause is sent again (V150)', async () => {
      const { renew } = renewalAfter(clock, 1)
      let calls = 0
      const renewal = {
        renew: (...args: Parameters<typeof renew>) =>
          calls++ === 0 ? { answer: Promise.reject(new Error('shut down')) } : renew(...args),
      } as Renewal
      const leases = [1, 2].map(() => watched(renewal))
      await pass(2 * TIMEOUT)
      for (const { lostAt } of leases) expect(lostAt).to.equal(undefined)
      for (const lease of leases) watchdog.remove(lease)
    })

    for (const count of [1, 3])
      it(`${count} refused of ten leases cost the others no renewal, and few calls (V129)`, async () => {
        const refused = new Set<Lease>()
        const renewal = renewalRefusedFor(clock, refused)
        const leases = Array.from({ length: 10 }, () => watched(renewal))
        for (const lease of leases.slice(0, count)) refused.add(lease)
        await pass(TIMEOUT)
        for (const lease of leases) expect(lease.lostAt !== undefined).to.equal(refused.has(lease))
        expect(renewal.calls, 'alone, each asks once in a ninth of the lease').to.be.most(10 + 2 + 9 * count)
        renewal.calls = 0
        await pass(TIMEOUT)
        expect(renewal.calls, 'the others share their calls again').to.be.most(4)
        for (const lease of leases) watchdog.remove(lease)
      })
  })
})

/** `until`: when it was removed or lost, or the test ended. */
function check({ needsWatchdog, isAnswered, began, lasts, lostAt, renewedAt }: NotedLease, until: number) {
  const interval = TIMEOUT / 3
  const deadline = began + 0.9 * lasts
  if (isAnswered) expect(lostAt).to.equal(undefined)
  else expect(until).to.be.most(deadline + REPORT_TOLERANCE)
  if (lostAt !== undefined) expect(lostAt).to.be.least(deadline)
  if (!needsWatchdog) expect(renewedAt).to.deep.equal([])
  const sent = needsWatchdog ? [began, ...renewedAt, ...(isAnswered ? [until] : [])] : []
  for (const [index, time] of sent.entries())
    if (index > 0) expect(time - sent[index - 1]!).to.be.most(interval + TOLERANCE)
}

/** A lease that lives at this time is renewed soon; behind an answer, if a renewal of it is in flight. */
function checkAfresh(
  { needsWatchdog, isAnswered, began, renewedAt }: NotedLease,
  time: number,
  until: number,
) {
  const latest = time + MAX_LATENCY + TOLERANCE
  if (!needsWatchdog || !isAnswered || began > time || until < latest) return
  expect(renewedAt.some((sent) => sent >= time && sent <= latest)).to.equal(true)
}
