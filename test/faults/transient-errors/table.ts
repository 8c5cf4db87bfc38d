import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import type { Redisson } from '../../../src/index'
import { createRedisson, rejection, timed } from '../../kit/clients'
import { errorMessagesOf } from '../../kit/observing'
import { waitUntil } from '../../kit/servers/index'
import { prepareCalls } from './calls'
import { stateOf } from './preparation'
import type { Trouble } from './trouble'

/** How long the server declines: longer than any retry takes, shorter than calls wait. */
const LASTS = 1_500
const ONE_SLOW_ROUND_TRIP = 1_000
/** From the end of the trouble to the answers, at most. */
const SOON = 6_000
/** For a loaded machine. */
const SLACK = 3_000

/** What must hold for every error that passes. */
export function describeTrouble(what: string, open: () => Promise<Trouble>): void {
  describe(`A server with a transient error, ${what} (D6)`, () => {
    let trouble: Trouble
    before(async () => {
      trouble = await open()
    })
    after(() => trouble.stop())

    const tellingOf = (redisson: Redisson) => {
      const errors = errorMessagesOf(redisson)
      return errors
    }

    it('Every call succeeds once a transient error is over, and one error is reported', async () => {
      const redisson = await createRedisson({ redis: trouble.source })
      const errors = tellingOf(redisson)
      const make = await prepareCalls(redisson, trouble.newName)
      await trouble.begin()
      const calls = make()
      await sleep(LASTS)
      await trouble.end()
      expect(await timed(() => Promise.allSettled(calls.map(([, { answer }]) => answer)))).to.be.below(SOON)
      for (const [call, { answer, expected, name, left }] of calls) {
        expect(await answer, call).to.equal(expected)
        expect(await stateOf(trouble.admin, name), call).to.deep.equal(left)
      }
      expect(errors).to.have.length(1)
    })

    it('A call that meets a transient error with a shorter wait, or with none, is answered in time', async () => {
      const redisson = await createRedisson({ redis: trouble.source })
      const [waiting, trying] = [trouble.newName(), trouble.newName()]
      await trouble.begin()
      try {
        const [waited, tried] = await Promise.all([
          timed(() => rejection(redisson.getLock(waiting).tryLock(400))),
          timed(() => rejection(redisson.getLock(trying).tryLock())),
        ])
        expect(waited).to.be.within(399, 400 + SLACK)
        expect(tried).to.be.within(0, ONE_SLOW_ROUND_TRIP + SLACK)
      } finally {
        await trouble.end()
      }
      // Nothing is acquired in the name of a call that answered that it was not.
      for (const name of [waiting, trying])
        await waitUntil('it is free', async () => (await trouble.admin.exists(name)) === 0)
    })

    it('lock() without a wait goes on at transient errors; unlock() is retried later', async () => {
      // READONLY makes ioredis reconnect. On a loaded machine that takes a second, in which lock() meets no transient error.
      const redisson = await createRedisson({ redis: trouble.source }, { unavailableAfter: 2_500 })
      const errors = tellingOf(redisson)
      const hold = await redisson.getLock(trouble.newName()).acquire()
      const name = trouble.newName()
      await trouble.begin()
      const locking = redisson.getLock(name).lock()
      locking.catch(() => {})
      expect((await rejection(hold.unlock())).code).to.equal('REDIS_UNAVAILABLE')
      await sleep(LASTS)
      await trouble.end()
      await locking
      expect(await trouble.admin.hvals(name)).to.deep.equal(['1'])
      await waitUntil('it is released', async () => (await trouble.admin.exists(hold.lockName)) === 0)
      expect(errors).to.have.length(1)
    })

    it('Renewals go on after a transient error, with one renewalFailed a hold (B1, B11)', async () => {
      const redisson = await createRedisson(
        { redis: trouble.source, lockWatchdogTimeout: 9_000 },
        { unavailableAfter: 300 },
      )
      const failed: string[] = []
      const lost: unknown[] = []
      redisson.on('renewalFailed', ({ lockName }) => failed.push(lockName))
      redisson.on('lockLost', (event) => lost.push(event))
      const names = [trouble.newName(), trouble.newName()]
      const holds = await Promise.all(names.map((name) => redisson.getLock(name).acquire()))
      await trouble.begin()
      await waitUntil('the renewals fail', () => failed.length >= 2)
      // More tries fail as well.
      await sleep(1_000)
      await trouble.end()
      for (const name of names)
        await waitUntil('it is renewed', async () => (await trouble.admin.pttl(name)) > 7_500)
      expect(failed.sort()).to.deep.equal(names.sort())
      expect(lost).to.deep.equal([])
      expect(holds.every(({ isHeld }) => isHeld)).to.equal(true)
    })
  })
}
