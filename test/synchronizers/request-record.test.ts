import { expect } from 'chai'
import { luaSources } from '../../src/scripts/lua.generated'
import { script } from '../../src/scripts/script'
import { createRedisson, rejection, uniqueName } from '../kit/clients'
import { clientAndRedis, name, redis, redisson } from '../kit/each-test'
import { internalsOf } from '../kit/internals'
import { JumpingClock } from '../kit/jumping-clock'
import { openProxy } from '../kit/proxies'
import { waitUntil } from '../kit/servers/index'
import { defaultServer } from '../kit/stand-in'
import { tapped } from '../kit/tapped-transport'

describe('The request record of objects without owners', () => {
  clientAndRedis()

  const kept = (name: string) => redis.hlen(`rlock_requests:{${name}}:${redisson.getId()}`)

  async function newNames(count: number, permits: number): Promise<string[]> {
    const names = Array.from({ length: count }, () => uniqueName('semaphore'))
    for (const name of names) await redisson.getSemaphore(name).trySetPermits(permits)
    return names
  }

  for (const anew of [false, true])
    it(`A request record drops seen answers, also nested, ${anew ? 'each call by an object of its own' : 'by the same objects'} (S2)`, async () => {
      for (const depth of [1, 2, 4, 8]) {
        const names = await newNames(depth, 1)
        const objects = names.map((name) => redisson.getSemaphore(name))
        const semaphore = (index: number) => (anew ? redisson.getSemaphore(names[index]!) : objects[index]!)
        for (let round = 0; round < 20; round++) {
          for (let index = 0; index < depth; index++) await semaphore(index).acquire()
          for (let index = depth; index-- > 0; ) await semaphore(index).release()
        }
        for (const name of names) expect(await kept(name), `nested ${depth} deep`).to.equal(1)
      }
    })

  for (const [what, replyIsLost] of [
    ['', false],
    [', once, though the reply to its release is lost', true],
  ] as const)
    it(`A process stopped past the record's life returns its permits${what} (V105)`, async () => {
      const proxy = await openProxy(await defaultServer())
      const clock = new JumpingClock()
      const stopped = await createRedisson({ redis: proxy.url }, { clock })
      const [name] = await newNames(1, 3)
      const abort = new AbortController()
      // Otherwise the first answers are that the server does not know the scripts.
      for (const used of ['semaphore/acquire', 'semaphore/cancel'] as const)
        await redis.script('LOAD', luaSources[used])
      proxy.stallReplies()
      const acquiring = rejection(stopped.getSemaphore(name!).acquire({ permits: 2, signal: abort.signal }))
      await waitUntil('they are granted', async () => (await redis.get(name!)) === '1')
      await redis.del(`rlock_requests:{${name}}:${stopped.getId()}`)
      Object.assign(clock, { stood: 62_000, jumped: 62_000 })
      abort.abort()
      await acquiring
      const { sha } = script('semaphore/cancel', String)
      const lost = replyIsLost ? proxy.dropNextReply((words) => words[1] === sha) : undefined
      proxy.resume()
      await lost
      await waitUntil('the background has finished', () => internalsOf(stopped).orphans.size === 0)
      expect(await redis.get(name!)).to.equal('3')
    })

  it('A process that stood still does not send a release again by its source (V196)', async () => {
    const clock = new JumpingClock()
    let copies = 0
    const transport = tapped(async (sent) => {
      if (sent.name !== 'semaphore/release') return await sent.pass()
      copies++
      if (copies === 1) {
        await sent.pass()
        throw new Error('Connection is closed.')
      }
      if (copies === 2) {
        Object.assign(clock, { stood: 62_000, jumped: 62_000 })
        await redis.del(`rlock_requests:{${name}}:${stopped.getId()}`)
        throw new Error('NOSCRIPT No matching script.')
      }
      return await sent.pass()
    })
    const stopped = await createRedisson({}, { clock, transport })
    const [name] = await newNames(1, 0)
    await redis.script('LOAD', luaSources['semaphore/release'])
    expect(await rejection(stopped.getSemaphore(name!).release())).to.have.property(
      'code',
      'REDIS_UNAVAILABLE',
    )
    await waitUntil('the background has finished', () => internalsOf(stopped).orphans.size === 0)
    expect(await redis.get(name!)).to.equal('1')
  })

  it('A record has no more fields than requests were in flight together (S2)', async () => {
    const CALLERS = 500
    const [name] = await newNames(1, CALLERS)
    const semaphore = redisson.getSemaphore(name!)
    for (let round = 0; round < 5; round++) {
      await Promise.all(Array.from({ length: CALLERS }, () => semaphore.acquire()))
      await Promise.all(Array.from({ length: CALLERS }, () => semaphore.release()))
    }
    expect(await kept(name!)).to.be.at.most(CALLERS)
    expect(await semaphore.availablePermits()).to.equal(CALLERS)
  })

  it('Acquisitions that are aborted in flight leave a short record (V21)', async () => {
    const [name] = await newNames(1, 1)
    for (let round = 0; round < 20; round++) {
      const abort = new AbortController()
      const acquiring = rejection(redisson.getSemaphore(name!).acquire({ signal: abort.signal }))
      abort.abort(new Error('enough'))
      await acquiring
      for (let each = 0; each < 20; each++) await redisson.getSemaphore(name!).withPermits(() => {})
    }
    await waitUntil('the aborted ones are cancelled', () => internalsOf(redisson).orphans.size === 0)
    expect(await kept(name!)).to.be.at.most(4)
    expect(await redisson.getSemaphore(name!).availablePermits()).to.equal(1)
  })

  it('A late copy of a request whose slot has a newer one changes nothing (S2)', async () => {
    const copies: (() => Promise<unknown>)[] = []
    const transport = tapped((sent) => {
      if (sent.name.startsWith('semaphore/') && !sent.bySource) copies.push(sent.pass)
      return sent.pass()
    })
    const semaphore = (await createRedisson({}, { transport })).getSemaphore(name)
    await semaphore.trySetPermits(5)
    await semaphore.acquire(2)
    await semaphore.release()
    await semaphore.addPermits(3)
    await semaphore.drainPermits()
    await semaphore.addPermits(2)
    for (const send of copies) await send()
    expect(await redis.get(name)).to.equal('2')
  })

  it("A late copy of a cancelled acquisition leaves a newer request's permits (V113)", async () => {
    const copies: (() => Promise<unknown>)[] = []
    const transport = tapped((sent) => {
      if (sent.name.startsWith('semaphore/') && !sent.bySource) copies.push(sent.pass)
      return sent.pass()
    })
    const client = await createRedisson({}, { transport })
    const semaphore = client.getSemaphore(name)
    await semaphore.trySetPermits(1)
    const abort = new AbortController()
    const acquiring = rejection(semaphore.acquire({ signal: abort.signal }))
    abort.abort()
    await acquiring
    await waitUntil('it is cancelled', () => internalsOf(client).orphans.size === 0)
    const late = copies.splice(0)
    await semaphore.acquire()
    for (const send of late) await send()
    expect(await redis.get(name)).to.equal('0')
    for (const send of copies) await send()
    expect(await redis.get(name)).to.equal('0')
    await semaphore.release()
    expect(await redis.get(name)).to.equal('1')
  })
})
