import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { closeAll, createRedisson, openRedis, uniqueName } from '../kit/clients'
import { stillPending } from '../kit/observing'
import { asleep } from '../kit/sleepers'
import { tapped } from '../kit/tapped-transport'

const channelOf = (name: string) => `redisson_countdownlatch__channel__{${name}}`

describe('A latch that is set anew', () => {
  afterEach(closeAll)

  for (const [what, back] of [
    ['set back', 60_000],
    ['replaced by one that is behind', 150],
  ] as const)
    it(`No waiter of a latch goes on early because the clock of the server is ${what} (V42)`, async () => {
      const name = uniqueName('latch')
      const other = (await createRedisson()).getCountDownLatch(name)
      let behind = 0
      const transport = tapped(async (sent) => {
        const reply = await sent.pass()
        if (sent.name !== 'count-down-latch/get-count') return reply
        const [count, opened, ago] = reply as [number, string, number]
        return [count, opened, ago - behind]
      })
      const redisson = await createRedisson({}, { transport })
      const latch = redisson.getCountDownLatch(name)
      await other.trySetCount(1)
      await other.countDown()
      await other.trySetCount(1)
      await sleep(50)
      const waiting = Promise.all(Array.from({ length: 3 }, () => latch.await()))
      await asleep(redisson, `latch ${name}`, 3)
      await sleep(200)
      behind = back
      await (await openRedis()).publish(channelOf(name), '1')
      expect(await stillPending(waiting)).to.equal(true)
      await other.countDown()
      await waiting
    })
})
