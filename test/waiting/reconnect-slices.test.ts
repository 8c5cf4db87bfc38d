import { expect } from 'chai'
import type { Redisson } from '../../src/index'
import { createRedisson, uniqueName } from '../kit/clients'
import { openProxy } from '../kit/proxies'
import { waitUntil } from '../kit/servers/index'
import { waitingIn } from '../kit/sleepers'
import { defaultServer } from '../kit/stand-in'
import { tapped } from '../kit/tapped-transport'

const WAITERS = 4_000
/** The most sends of one tick of the event loop, below the number of waiters. */
const MOST_AT_ONCE = 2_000

describe('A reconnect with thousands of waiters', () => {
  it('Waiters of many locks retry in slices after a broken connection, and acquire (V28)', async () => {
    const server = await defaultServer()
    const proxy = await openProxy(server)
    let sends = 0
    let most = 0
    const transport = tapped((sent) => {
      if (sends++ === 0)
        setImmediate(() => {
          most = Math.max(most, sends)
          sends = 0
        })
      return sent.pass()
    })
    const holder = await createRedisson({ redis: server.url })
    const own = await createRedisson({ redis: proxy.url }, { transport })
    const name = uniqueName('slices')
    const locks = (client: Redisson) =>
      Array.from({ length: WAITERS }, (_, at) => client.getLock(`${name}:${at}`))
    const held = await Promise.all(locks(holder).map((lock) => lock.acquire()))
    const waiting = locks(own).map((lock) => lock.acquire())
    const asleep = (at: number) => waitingIn(own, `lock ${name}:${at}`).isAsleep
    const allAsleep = () => Array.from(waiting.keys()).every(asleep)
    await waitUntil('all sleep', allAsleep)
    most = 0
    proxy.cut()
    await waitUntil('the connection broke', () => !asleep(0))
    await waitUntil('all sleep again', allAsleep)
    expect(most).to.be.within(1, MOST_AT_ONCE)
    await Promise.all(held.map((hold) => hold.unlock()))
    await Promise.all((await Promise.all(waiting)).map((hold) => hold.unlock()))
  })
})
