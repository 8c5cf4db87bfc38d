import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { closeAll, createRedisson, uniqueName } from '../kit/clients'
import { tapped } from '../kit/tapped-transport'

describe('A try for a fair lock that comes after its deadline', () => {
  afterEach(closeAll)

  it('A try that came too late says nothing of the lock to a caller whose wait is over (E6)', async () => {
    const name = uniqueName('fair')
    const holder = (await createRedisson()).getFairLock(name)
    // To this client the server's clock was behind, until it was set forward by a minute.
    let wasSet = false
    const transport = tapped(async (sent) => {
      const reply = await sent.pass()
      await sleep(30)
      if (wasSet || !Array.isArray(reply)) return reply
      const [place, lives, now] = reply as number[]
      return [place, lives, now! - 60_000]
    })
    const lock = (await createRedisson({}, { transport })).getFairLock(name)
    await holder.lock()
    expect(await lock.tryLock(10)).to.equal(false)
    await holder.unlock()
    wasSet = true
    expect(await lock.tryLock(10), 'the lock is free').to.equal(true)
    await lock.unlock()
  })
})
