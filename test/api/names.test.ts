import { expect } from 'chai'
import type { Redisson } from '../../src/index'
import { createRedisson, rejection, uniqueName } from '../kit/clients'
import { clientAndRedis, name, redis, redisson } from '../kit/each-test'
import { expectHandledRejections, ownerOf } from '../kit/observing'
import { waitUntil } from '../kit/servers/index'

/** Braces in a name are its own, else we add them, as Redisson does. */
const channelOf = (key: string) =>
  key.includes('{') ? `redisson_lock__channel:${key}` : `redisson_lock__channel:{${key}}`

describe('Names of locks', () => {
  expectHandledRejections()

  clientAndRedis()

  async function subscribers(channel: string): Promise<number> {
    const [, count] = await redis.pubsub('NUMSUB', channel)
    return Number(count)
  }

  /** Acquires, waits and is woken, re-enters, fails with the name in the message, and leaves nothing. */
  async function expectUsable(client: Redisson, name: string, key: string) {
    const lock = client.getLock(name)
    expect(lock.getName()).to.equal(name)
    const hold = await lock.acquire()
    expect(hold.lockName).to.equal(name)
    expect((await ownerOf(redis, key)).field).to.equal(`${client.getId()}:${hold.threadId}`)
    const waiting = client.getLock(name).tryAcquire({ waitTime: 20_000 })
    await waitUntil('it waits', async () => (await subscribers(channelOf(key))) === 1)
    await hold.unlock()
    await (await waiting)!.unlock()
    await lock.withLock(() => lock.withLock(() => {}))
    const error = await rejection(lock.unlock())
    expect(error.code).to.equal('ILLEGAL_MONITOR_STATE')
    expect(error.message).to.include(JSON.stringify([...name].slice(0, 60).join('')).slice(0, -1))
    expect(error.message.length).to.be.below(1_000)
    expect(await redis.exists(key)).to.equal(0)
  }

  for (const [title, make] of [
    ['an ordinary name', (unique: string) => unique],
    ['a name with a hash tag', (unique: string) => `{${unique}}:tail`],
    ['unbalanced braces', (unique: string) => `${unique}a}b`],
    ['an opening brace', (unique: string) => `${unique}a{b`],
    ['empty braces', (unique: string) => `{}${unique}`],
    ['newlines, NUL and quotes', (unique: string) => `${unique}\r\n$3\r\nx\0"'\\`],
    ['emoji and other scripts', (unique: string) => `${unique}🔒👩‍👩‍👧 замок 錠`],
    ['blanks', (unique: string) => ` ${unique} `],
    ['10 kB', (unique: string) => unique + 'x'.repeat(10_240)],
    ['10 kB of emoji', (unique: string) => unique + '🔒'.repeat(2_560)],
    ['what JavaScript keeps in every object', (unique: string) => `__proto__${unique}`],
  ] as const)
    it(`Names of locks may be ${title}`, async () => {
      const name = make(uniqueName('names'))
      await expectUsable(redisson, name, name)
    })

  it('Names of locks leave no channel behind', async () => {
    const names = [uniqueName('names'), `{${uniqueName('names')}}x`, `${uniqueName('names')}a}b`]
    await Promise.all(names.map((name) => expectUsable(redisson, name, name)))
    for (const name of names)
      await waitUntil('the channel is left', async () => (await subscribers(channelOf(name))) === 0)
  })

  it('Names of locks may be those of properties that every object has', async () => {
    for (const name of ['__proto__', 'constructor', 'toString']) {
      const hold = await redisson.getLock(name).acquire({ leaseTime: 20_000 })
      expect(await redisson.getLock(name).tryLock()).to.equal(false)
      await hold.unlock()
    }
  })

  it('Names of locks are different locks, also if they differ in one character', async () => {
    const unique = uniqueName('names')
    const names = [unique, `${unique} `, unique.toUpperCase(), `{${unique}}`, `${unique}\0`]
    const holds = await Promise.all(names.map((name) => redisson.getLock(name).acquire()))
    for (const hold of holds) await hold.unlock()
  })

  it('A name mapper maps keys and channels once; the API shows the unmapped name (C11)', async () => {
    const asked: string[] = []
    const mapped = await createRedisson({
      nameMapper: {
        map(name) {
          asked.push(name)
          return `prod:${name}`
        },
      },
    })
    await expectUsable(mapped, name, `prod:${name}`)
    expect(await redis.exists(name, `prod:prod:${name}`)).to.equal(0)
    // Whatever was mapped was a name of the user's.
    expect(new Set(asked)).to.deep.equal(new Set([name]))
  })

  it('A client with a name mapper and one without exclude each other by the mapped name (C11)', async () => {
    const mapped = await createRedisson({ nameMapper: { map: (each) => `${each}:mapped`, unmap: String } })
    const hold = await redisson.getLock(`${name}:mapped`).acquire()
    const waiting = mapped.getLock(name).tryAcquire({ waitTime: 20_000 })
    await waitUntil('it waits', async () => (await subscribers(channelOf(`${name}:mapped`))) === 1)
    await hold.unlock()
    const woken = (await waiting)!
    expect(woken.lockName).to.equal(name)
    expect(await redisson.getLock(name).tryLock()).to.equal(true)
    await woken.unlock()
  })

  it('Names of locks that map to one key are one lock, also for the counts of a thread', async () => {
    const key = uniqueName('names')
    const mapped = await createRedisson({ nameMapper: { map: () => key } })
    await mapped.run(async () => {
      await mapped.getLock('a').lock()
      await mapped.getLock('b').lock()
      expect((await ownerOf(redis, key)).count).to.equal(2)
      await mapped.getLock('a').unlock()
      await mapped.getLock('a').unlock()
    })
    expect(await redis.exists(key)).to.equal(0)
  })

  it('A name mapper that fails or gives no name is an error of getLock', async () => {
    for (const map of [() => '', () => undefined, () => 5] as never[]) {
      const client = await createRedisson({ nameMapper: { map } })
      expect(() => client.getLock('x')).to.throw(TypeError, /nameMapper/)
    }
    const failing = await createRedisson({
      nameMapper: {
        map() {
          throw new Error('no such tenant')
        },
      },
    })
    expect(() => failing.getLock('x')).to.throw('no such tenant')
  })

  it('Every getter refuses a name in which a part is missing or an object', () => {
    const getters = [
      'getLock',
      'getReadWriteLock',
      'getFairLock',
      'getFencedLock',
      'getSpinLock',
      'getTokenLock',
      'getSemaphore',
      'getPermitExpirableSemaphore',
      'getCountDownLatch',
    ] as const
    for (const getter of getters) {
      for (const bad of [`order:${undefined}`, 'undefined', 'a:undefined:b', `order:${{}}`])
        expect(() => redisson[getter](bad), `${getter} ${bad}`).to.throw(TypeError, /a part of it is missing/)
      expect(redisson[getter]('undefinedness')).to.not.equal(undefined)
    }
  })
})
