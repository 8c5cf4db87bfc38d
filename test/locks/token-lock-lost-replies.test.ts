import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { LockLostError, type Redisson, RedisUnavailableError } from '../../src/index'
import { script } from '../../src/scripts/script'
import { createRedisson, rejection, timed, uniqueName } from '../kit/clients'
import { name, redis, redisAndName } from '../kit/each-test'
import { openProxy } from '../kit/proxies'
import { type TcpProxy, waitUntil } from '../kit/servers/index'
import { waitingIn } from '../kit/sleepers'
import { defaultServer } from '../kit/stand-in'
import { tapped } from '../kit/tapped-transport'

const LEASE = 60_000
const FOREIGN = 'a token of another library'
const HAND_OFF = script('token-lock/handoff', (raw) => raw).sha

describe('Lost replies and late copies of a token lock', () => {
  let proxy: TcpProxy
  let client: Redisson

  redisAndName('token')
  beforeEach(async () => {
    proxy = await openProxy(await defaultServer())
    client = await createRedisson({ redis: proxy.url })
    // The server knows the scripts from here on, so that the reply that is lost is no NOSCRIPT.
    const warmUp = client.getTokenLock(uniqueName())
    await warmUp.withLock(() => warmUp.isLocked())
    await warmUp.lock()
    await warmUp.forceUnlock()
  })

  const isFree = async () => (await redis.exists(name)) === 0
  const waits = (waiting: Redisson) =>
    waitUntil('it waits', () => waitingIn(waiting, `token ${name}`).isAsleep)

  /** Three callers pass the lock among themselves: a handoff, unless each hold lasted longer than a turn. */
  async function passOn(waiting: Redisson) {
    const lock = waiting.getTokenLock(name)
    const hold = await lock.acquire()
    const passing = [1, 2, 3].map(() => lock.withLock(() => {}))
    await waits(waiting)
    await hold.unlock()
    await Promise.all(passing)
  }

  async function losingReply<T>(operation: () => Promise<T>): Promise<T> {
    const dropped = proxy.dropNextReply((words) => words[0] === 'evalsha' && words.includes(name))
    const done = operation()
    await dropped
    return await done
  }

  it('A token lock whose reply is lost is acquired, and does not wait for itself (K1)', async () => {
    const lock = client.getTokenLock(name)
    expect(await timed(() => losingReply(() => lock.lock()))).to.be.lessThan(10_000)
    await lock.unlock()
    expect(await losingReply(() => lock.tryLock())).to.equal(true)
    expect(await isFree()).to.equal(false)
    await lock.unlock()
    expect(await isFree()).to.equal(true)
  })

  it('A release of a token lock whose reply is lost is answered like the first (K1)', async () => {
    const lock = client.getTokenLock(name)
    await lock.lock()
    await losingReply(() => lock.unlock())
    expect(await isFree()).to.equal(true)
  })

  it("A token lock's handoff with a lost reply reaches the next waiter once (K1)", async () => {
    await redis.script('LOAD', script('token-lock/handoff', (raw) => raw).source)
    const dropped = proxy.dropNextReply((words) => words[0] === 'evalsha' && words[1] === HAND_OFF)
    await Promise.all([dropped, passOn(client)])
    expect(await isFree()).to.equal(true)
  })

  it('A forced release of a token lock whose reply is lost frees no successor (K1)', async () => {
    await redis.set(name, FOREIGN, 'PX', LEASE)
    const dropped = proxy.dropNextReply((words) => words[0] === 'evalsha' && words.length > 5)
    proxy.refuse()
    const forcing = client.getTokenLock(name).forceUnlock()
    await dropped
    await redis.set(name, 'the successor', 'PX', LEASE)
    await proxy.accept()
    expect(await forcing).to.equal(true)
    expect(await redis.get(name)).to.equal('the successor')
  })

  it('A forced release of a token lock with a lost reply ends own holds at once (V36)', async () => {
    let isLost = false
    const transport = tapped(async (sent) => {
      const answer = await sent.pass()
      if (sent.name !== 'token-lock/force-release' || sent.bySource || isLost) return answer
      isLost = true
      throw new Error('Connection is closed.')
    })
    const lock = (await createRedisson({}, { transport })).getTokenLock(name)
    const hold = await lock.acquire()
    expect(await lock.forceUnlock()).to.equal(true)
    expect(isLost).to.equal(true)
    expect(hold.isHeld).to.equal(false)
    expect(hold.signal.reason).to.be.instanceOf(LockLostError)
  })

  it('Every script of a token lock can run twice with the effect of one run', async () => {
    const names = new Set<string>()
    const transport = tapped(async (sent) => {
      names.add(sent.name)
      const answer = await sent.pass()
      await sent.pass()
      return answer
    })
    const twice = await createRedisson({ lockWatchdogTimeout: 600 }, { transport })
    const lock = twice.getTokenLock(name)
    await lock.lock()
    await waitUntil('it is renewed', () => names.has('token-lock/renew'))
    expect(await lock.isLocked()).to.equal(true)
    await lock.unlock()
    await passOn(twice)
    expect(names).to.include('token-lock/handoff')
    await lock.lock()
    expect(await lock.forceUnlock()).to.equal(true)
    expect(await isFree()).to.equal(true)
  })

  it("Late copies of a token lock's commands change nothing of other or newer holds (K2)", async () => {
    const copies: { name: string; send: () => Promise<unknown> }[] = []
    const transport = tapped((sent) => {
      if (!sent.bySource) copies.push({ name: sent.name, send: sent.pass })
      return sent.pass()
    })
    const copying = await createRedisson({ lockWatchdogTimeout: 600 }, { transport })
    const lock = copying.getTokenLock(name)
    await copying.getTokenLock(uniqueName()).withLock(() => sleep(250))
    copies.length = 0
    await lock.withLock(() => sleep(250))
    await passOn(copying)
    await lock.lock()
    await lock.forceUnlock()
    const old = copies.splice(0)
    expect(new Set(old.map((copy) => copy.name))).to.include.keys(
      'token-lock/acquire',
      'token-lock/renew',
      'token-lock/release',
      'token-lock/handoff',
      'token-lock/force-release',
    )
    await redis.set(name, FOREIGN, 'PX', LEASE)
    for (const { send } of [...old, ...old.reverse()]) await send()
    expect(await redis.get(name)).to.equal(FOREIGN)
    expect(await redis.pttl(name)).to.be.greaterThan(LEASE - 20_000)
    await redis.del(name)
    const hold = await lock.acquire({ leaseTime: LEASE })
    const token = await redis.get(name)
    for (const { send } of old) await send()
    expect(await redis.get(name)).to.equal(token)
    await hold.unlock()
  })

  it('A token lock that was given up is released when its connection is back', async () => {
    const enough = new AbortController()
    const dropped = proxy.dropNextReply((words) => words[0] === 'evalsha' && words.includes(name))
    proxy.refuse()
    const acquiring = rejection(client.getTokenLock(name).lock({ signal: enough.signal }))
    await dropped
    enough.abort(new Error('too slow'))
    expect((await acquiring).message).to.equal('too slow')
    expect(await isFree()).to.equal(false)
    await proxy.accept()
    await waitUntil('it is released', isFree)
  })

  it('A late grant of a token lock is given back, and the lock tried again (guarantee 5)', async () => {
    const names: string[] = []
    let isSlow = true
    const transport = tapped(async (sent) => {
      names.push(sent.name)
      const answer = await sent.pass()
      if (sent.name === 'token-lock/acquire' && isSlow) {
        isSlow = false
        await sleep(400)
      }
      return answer
    })
    const slow = await createRedisson({}, { transport })
    const hold = await slow.getTokenLock(name).acquire({ leaseTime: 350 })
    const sent = names.filter((each) => each !== 'token-lock/inspect')
    expect(sent).to.deep.equal(['token-lock/acquire', 'token-lock/release', 'token-lock/acquire'])
    expect(hold.isHeld).to.equal(true)
    await hold.unlock()
  })

  it('A release that cannot be sent rejects, and is retried until the server has it (K5)', async () => {
    const impatient = await createRedisson({ redis: proxy.url }, { unavailableAfter: 600 })
    const lock = impatient.getTokenLock(name)
    await lock.lock()
    proxy.breakOff()
    expect(await rejection(lock.unlock())).to.be.instanceOf(RedisUnavailableError)
    expect((await rejection(lock.unlock())).code).to.equal('ILLEGAL_MONITOR_STATE')
    expect(await isFree()).to.equal(false)
    await proxy.accept()
    await waitUntil('it is released', isFree, 10_000)
  })
})
