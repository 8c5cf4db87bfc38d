import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { createRedisson, uniqueName } from '../kit/clients'
import { JumpingClock } from '../kit/jumping-clock'
import { eventsOf } from '../kit/observing'
import { waitUntil } from '../kit/servers/index'
import { tapped } from '../kit/tapped-transport'

const WATCHDOG = 6_000

describe('The watchdog after a jump of the wall clock', () => {
  async function twoHolds() {
    const clock = new JumpingClock()
    const renewed: (readonly string[])[] = []
    const transport = tapped((sent) => {
      if (sent.name === 'lock/renew' && !sent.bySource) renewed.push(sent.keys)
      return sent.pass()
    })
    const redisson = await createRedisson({ lockWatchdogTimeout: WATCHDOG }, { clock, transport })
    const lost = eventsOf(redisson, 'lockLost')
    const first = await redisson.getLock(uniqueName()).acquire()
    await sleep(WATCHDOG / 4)
    const second = await redisson.getLock(uniqueName()).acquire()
    return { clock, lost, renewed, holds: [first, second] as const }
  }

  it('A wall clock set past the leases ends all holds at the next check, once (B10)', async () => {
    const { clock, lost } = await twoHolds()
    clock.jumped = 10 * WATCHDOG
    const before = clock.timers
    // No code asks the holds: that would notice by itself.
    await waitUntil('a loss is reported', () => lost.length > 0)
    expect(lost).to.have.length(2)
    await sleep(WATCHDOG / 4)
    expect(clock.timers - before).to.be.lessThan(20)
  })

  it('A wall clock set forward within the leases renews due holds by that time (B9)', async () => {
    const { clock, lost, renewed, holds } = await twoHolds()
    clock.jumped = WATCHDOG / 2
    await waitUntil('it renews', () => renewed.length > 0)
    expect(renewed[0]).to.deep.equal(holds.map(({ lockName }) => lockName))
    await sleep(WATCHDOG / 4)
    expect(renewed).to.have.length(1)
    expect(lost).to.deep.equal([])
    expect(holds.map((hold) => hold.isHeld)).to.deep.equal([true, true])
  })

  it('A wall clock set past a lease ends a hold or permit within a third of it (V110)', async () => {
    const clock = new JumpingClock()
    const redisson = await createRedisson({ lockWatchdogTimeout: 900 }, { clock })
    const semaphore = redisson.getPermitExpirableSemaphore(uniqueName())
    await semaphore.trySetPermits(1)
    const options = { leaseTime: 3_600_000 }
    const held = [
      await redisson.getLock(uniqueName()).acquire(options),
      await semaphore.acquirePermit(options),
    ]
    // A signal that is read again would notice by itself.
    const signals = held.map(({ signal }) => signal)
    await sleep(100)
    clock.jumped = 7_200_000
    await waitUntil('they are told', () => signals.every(({ aborted }) => aborted), 10_000)
  })

  it('A wall clock set back does not delay renewal, which goes on by monotonic time (B10)', async () => {
    const { clock, lost, renewed, holds } = await twoHolds()
    clock.jumped = -10 * WATCHDOG
    await sleep(1.2 * WATCHDOG)
    expect(renewed.length).to.be.within(4, 8)
    expect(lost).to.deep.equal([])
    expect(holds.map((hold) => hold.isHeld)).to.deep.equal([true, true])
  })
})
