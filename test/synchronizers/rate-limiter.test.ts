import { expect } from 'chai'
import { RateNotSetError, RateType, type Redisson, type RRateLimiter, TimeUnit } from '../../src/index'
import { grantOf } from '../contract/waitables'
import { createRedisson, rejection, timed, uniqueName } from '../kit/clients'
import { name, redis, redisAndName } from '../kit/each-test'
import { internalsOf } from '../kit/internals'
import { leftIn } from '../kit/left-in'
import { expectHandledRejections } from '../kit/observing'
import { waitUntil } from '../kit/servers/index'
import { asleep } from '../kit/sleepers'
import { ScriptCounter, type ScriptSent, tapped } from '../kit/tapped-transport'

const LONG = 60_000

describe('A rate limiter', () => {
  expectHandledRejections()

  redisAndName()

  async function newLimiter(rate: number, interval: number, redisson?: Redisson) {
    redisson ??= await createRedisson()
    const name = uniqueName('limiter')
    const limiter = redisson.getRateLimiter(name)
    if (rate > 0) await limiter.trySetRate(RateType.OVERALL, rate, interval)
    const value = () => redis.get(`{${name}}:value`)
    const grants = () => redis.zcard(`{${name}}:permits`)
    return { redisson, name, limiter, value, grants }
  }

  it('Permits are taken up to the rate, and come back when their interval ends', async () => {
    const { limiter, name, value, grants } = await newLimiter(3, 400)
    expect(await limiter.tryAcquire(2)).to.equal(true)
    expect(await limiter.tryAcquire(2)).to.equal(false)
    expect(await limiter.availablePermits()).to.equal(1)
    expect(await value()).to.equal('1')
    expect(await grants()).to.equal(1)
    await limiter.acquire(3)
    expect(await value()).to.equal('0')
    expect(await grants()).to.equal(1)
    expect(limiter.getName()).to.equal(name)
    expect(JSON.stringify(limiter)).to.equal(JSON.stringify({ name }))
  })

  it('The keys are those of Java: a hash, what is left, and packed grants', async () => {
    const { limiter, name } = await newLimiter(-1, 0)
    expect(await limiter.trySetRate(RateType.OVERALL, 5, 2, TimeUnit.SECONDS)).to.equal(true)
    await limiter.acquire(2)
    expect(await redis.hgetall(name)).to.deep.equal({
      rate: '5',
      interval: '2000',
      type: '0',
      keepAliveTime: '0',
    })
    const [member] = await redis.zrangeBuffer(`{${name}}:permits`, '0', '-1')
    expect(member![0]).to.equal(member!.length - 5)
    expect(member!.readUInt32LE(member!.length - 4)).to.equal(2)
    expect(await redis.ttl(`{${name}}:value`)).to.equal(-1)
  })

  it('A limit for each client counts for one client alone', async () => {
    const [one, other] = await Promise.all([createRedisson(), createRedisson()])
    const [mine, theirs] = [one.getRateLimiter(name), other.getRateLimiter(name)]
    await mine.trySetRate(RateType.PER_CLIENT, 1, LONG)
    expect(await mine.tryAcquire()).to.equal(true)
    expect(await mine.tryAcquire()).to.equal(false)
    expect(await theirs.tryAcquire()).to.equal(true)
    expect(await redis.get(`{${name}}:value:${one.getId()}`)).to.equal('0')
    expect(await redis.zcard(`{${name}}:permits:${other.getId()}`)).to.equal(1)
  })

  it('trySetRate() sets it once, setRate() always, and updateRate() only where it is set', async () => {
    const { limiter } = await newLimiter(-1, 0)
    expect(await limiter.getConfig()).to.equal(undefined)
    expect(await limiter.updateRate(RateType.OVERALL, 9, LONG)).to.equal(false)
    expect(await limiter.trySetRate(RateType.OVERALL, 2, LONG)).to.equal(true)
    expect(await limiter.trySetRate(RateType.PER_CLIENT, 3, 1)).to.equal(false)
    await limiter.acquire()
    expect(await limiter.updateRate(RateType.OVERALL, 4, 1, TimeUnit.MINUTES, { keepState: true })).to.equal(
      true,
    )
    expect(await limiter.availablePermits()).to.equal(3)
    await limiter.setRate(RateType.OVERALL, 5, LONG)
    expect(await limiter.availablePermits()).to.equal(5)
    await limiter.setRate(RateType.PER_CLIENT, 6, LONG, { keepAliveTime: LONG })
    const config = { type: RateType.PER_CLIENT, rate: 6, interval: LONG, keepAliveTime: LONG }
    expect(await limiter.getConfig()).to.deep.equal(config)
  })

  it('trySetRate() of a limiter whose rate was deleted keeps the grants, as Java does', async () => {
    const { limiter, name } = await newLimiter(1, LONG)
    await limiter.acquire()
    await redis.del(name)
    expect(await limiter.trySetRate(RateType.OVERALL, 1, LONG)).to.equal(true)
    expect(await limiter.tryAcquire()).to.equal(false)
  })

  it('With a keepAliveTime all keys expire that long after the last use', async () => {
    const { limiter, name } = await newLimiter(-1, 0)
    await limiter.trySetRate(RateType.OVERALL, 2, 1_000, { keepAliveTime: LONG })
    await limiter.acquire()
    for (const key of [name, `{${name}}:value`, `{${name}}:permits`])
      expect(await redis.pttl(key), key).to.be.within(LONG / 2, LONG)
  })

  it('A limiter without a rate is an error with a code of its own', async () => {
    const { limiter, name } = await newLimiter(-1, 0)
    for (const call of [
      () => limiter.acquire(),
      () => limiter.tryAcquire(),
      () => limiter.release(1),
      () => limiter.availablePermits(),
    ]) {
      const error = await rejection(call())
      expect(error).to.be.instanceOf(RateNotSetError)
      expect(error).to.include({ code: 'RATE_NOT_SET', limiterName: name })
    }
    expect(await redis.exists(name)).to.equal(0)
  })

  it('More permits than the rate are a RangeError, and take nothing', async () => {
    const { limiter } = await newLimiter(2, LONG)
    const error = await rejection(limiter.acquire(3))
    expect(error).to.be.instanceOf(RangeError)
    expect(error.message).to.include('its rate is 2')
    expect(await limiter.availablePermits()).to.equal(2)
  })

  it('Bad arguments are refused before anything is sent', async () => {
    const scripts = new ScriptCounter()
    const { limiter } = await newLimiter(-1, 0, await createRedisson({}, { transport: scripts.transport }))
    const bad: readonly [() => Promise<unknown>, typeof TypeError | typeof RangeError][] = [
      [() => limiter.trySetRate('ALL' as 'OVERALL', 1, 1), TypeError],
      [() => limiter.trySetRate(RateType.OVERALL, 0, 1), RangeError],
      [() => limiter.trySetRate(RateType.OVERALL, 1, 0), RangeError],
      [() => limiter.trySetRate(RateType.OVERALL, 1, 10, { keepAliveTime: 9 }), RangeError],
      [() => limiter.trySetRate(RateType.OVERALL, 1, 10, { keepStates: true } as object), TypeError],
      [() => limiter.setRate(RateType.OVERALL, '1' as unknown as number, 10), TypeError],
      [() => limiter.acquire(0), RangeError],
      [() => limiter.tryAcquire({ permits: 1.5 }), RangeError],
      [() => limiter.release(-1), RangeError],
    ]
    for (const [call, kind] of bad) expect(await rejection(call())).to.be.instanceOf(kind)
    expect(await limiter.getConfig()).to.equal(undefined)
    expect(scripts.of('rate-limiter/acquire')).to.equal(0)
  })

  it('Another type of key is a WrongTypeError', async () => {
    const { limiter, name } = await newLimiter(-1, 0)
    await redis.set(name, 'text')
    expect(await rejection(limiter.tryAcquire())).to.include({ code: 'WRONG_TYPE' })
    expect(await rejection(limiter.trySetRate(RateType.OVERALL, 1, 1))).to.include({ code: 'WRONG_TYPE' })
    await redis.del(name)
    await limiter.trySetRate(RateType.OVERALL, 1, LONG)
    await redis.set(`{${name}}:permits`, 'text')
    await redis.set(`{${name}}:value`, '1')
    expect(await rejection(limiter.tryAcquire())).to.include({ code: 'WRONG_TYPE' })
  })

  it('Waiters of a process are served in order, and only the first of them asks (guarantee 3)', async () => {
    const scripts = new ScriptCounter()
    const { limiter, redisson, name } = await newLimiter(
      1,
      150,
      await createRedisson({}, { transport: scripts.transport }),
    )
    await limiter.acquire()
    const order: number[] = []
    const callers = [1, 2, 3, 4].map(async (each) => {
      await limiter.acquire()
      order.push(each)
    })
    await asleep(redisson, `rate-limiter ${name}`, 4)
    expect(await limiter.tryAcquire()).to.equal(false)
    await Promise.all(callers)
    expect(order).to.deep.equal([1, 2, 3, 4])
    // One for each grant, one more for each that found none left, and the second look under the confirmed subscription.
    expect(scripts.of('rate-limiter/acquire')).to.be.at.most(12)
    await waitUntil('nothing is left', () => Object.keys(leftIn(redisson)).length === 0)
  })

  it('A wait that ends takes nothing, in time: false, or LockTimeoutError', async () => {
    const { limiter, value } = await newLimiter(1, LONG)
    await limiter.acquire()
    const took = await timed(async () => expect(await limiter.tryAcquire(1, 60)).to.equal(false))
    expect(took).to.be.below(1_000)
    expect(await rejection(limiter.acquire({ waitTime: 20 }))).to.include({ code: 'LOCK_TIMEOUT' })
    expect(await value()).to.equal('0')
  })

  it('release() and delete() wake the waiters of every process', async () => {
    const { limiter, name } = await newLimiter(1, LONG)
    await limiter.acquire()
    const other = await createRedisson()
    const theirs = other.getRateLimiter(name)
    const first = theirs.acquire()
    await asleep(other, `rate-limiter ${name}`)
    await limiter.release(1)
    await first
    const second = rejection(theirs.acquire())
    await asleep(other, `rate-limiter ${name}`)
    expect(await limiter.delete()).to.equal(true)
    expect(await second).to.be.instanceOf(RateNotSetError)
    expect(await limiter.delete()).to.equal(false)
    expect(await redis.keys(`*${name}*`)).to.satisfy((keys: string[]) =>
      keys.every((key) => key.startsWith('rlock_requests')),
    )
  })

  /** A client whose calls of one script are sent a second time, after their answer. */
  async function twice(script: string) {
    const transport = tapped(async ({ name, pass }: ScriptSent) => {
      const answer = await pass()
      return name === script ? await pass() : answer
    })
    return await createRedisson({}, { transport })
  }

  it('A request that arrives twice draws once (guarantee 4)', async () => {
    const { limiter, value, grants } = await newLimiter(5, LONG, await twice('rate-limiter/acquire'))
    await limiter.acquire(2)
    expect(await value()).to.equal('3')
    expect(await grants()).to.equal(1)
  })

  it('Changes that arrive twice take effect once (guarantee 4)', async () => {
    const changes: readonly [string, (limiter: RRateLimiter) => Promise<unknown>, string | null][] = [
      ['release', (limiter) => limiter.release(1), '3'],
      ['set-rate', (limiter) => limiter.setRate(RateType.OVERALL, 9, LONG, { keepState: true }), '6'],
      ['delete', (limiter) => limiter.delete(), null],
    ]
    for (const [script, change, left] of changes) {
      const { limiter, value } = await newLimiter(5, LONG, await twice(`rate-limiter/${script}`))
      await limiter.acquire(3)
      await change(limiter)
      expect(await value(), script).to.equal(left)
    }
    const { limiter } = await newLimiter(-1, 0, await twice('rate-limiter/set-rate'))
    expect(await limiter.trySetRate(RateType.OVERALL, 1, LONG)).to.equal(true)
  })

  it('An aborted acquisition whose answer was in flight gives its permits back', async () => {
    const abort = new AbortController()
    const transport = tapped(async ({ name, pass }: ScriptSent) => {
      const answer = await pass()
      if (name === 'rate-limiter/acquire') abort.abort(new Error('enough'))
      return answer
    })
    const { limiter, value, grants } = await newLimiter(5, LONG, await createRedisson({}, { transport }))
    expect((await rejection(limiter.acquire({ permits: 2, signal: abort.signal }))).message).to.equal(
      'enough',
    )
    await waitUntil('the permits are back', async () => (await value()) === '5' && (await grants()) === 0)
  })

  it('A cancelled acquisition that arrives twice gives back once (guarantee 4)', async () => {
    const abort = new AbortController()
    const transport = tapped(async ({ name, pass }: ScriptSent) => {
      const answer = await pass()
      if (name === 'rate-limiter/acquire' && !abort.signal.aborted) abort.abort()
      return name === 'rate-limiter/cancel' ? await pass() : answer
    })
    const redisson = await createRedisson({}, { transport })
    const { limiter, name, value } = await newLimiter(5, LONG)
    await limiter.acquire(4)
    await rejection(redisson.getRateLimiter(name).acquire({ signal: abort.signal }))
    await waitUntil('the permit is back', () => internalsOf(redisson).orphans.size === 0)
    expect(await value()).to.equal('1')
  })

  it('Thousands of grants that end together are counted in bounded steps', async () => {
    const { limiter, name, value, grants } = await newLimiter(5_000, 1_000)
    const permits = `{${name}}:permits`
    await redis.set(`{${name}}:value`, 0)
    const members = Array.from({ length: 5_000 }, (_, each) => [
      1_000 + each,
      grantOf(`grant ${each}`, 1),
    ]).flat()
    await redis.zadd(permits, ...(members as unknown as string[]))
    await limiter.acquire(5_000)
    expect(await value()).to.equal('0')
    expect(await grants()).to.equal(1)
  })

  it('Members of older versions of Redisson count, too', async () => {
    const { limiter, name } = await newLimiter(5, LONG)
    const packed = Buffer.alloc(8)
    packed.writeFloatLE(0.5)
    packed.writeUInt32LE(3, 4)
    await redis.set(`{${name}}:value`, 2)
    await redis.zadd(`{${name}}:permits`, 1_000, packed)
    expect(await limiter.availablePermits()).to.equal(5)
  })
})
