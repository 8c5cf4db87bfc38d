import { expect } from 'chai'
import { RedisRefusedError, type Redisson, type RPermitExpirableSemaphore } from '../../src/index'
import { createRedisson, rejection, uniqueName } from '../kit/clients'
import { name, redis, redisAndName } from '../kit/each-test'
import { internalsOf } from '../kit/internals'
import { ownServer, waitUntil } from '../kit/servers/index'

/** Every command of the scripts of semaphores and latches, but PUBLISH. */
const COMMANDS =
  `get set del exists decr decrby incrby hget hset hdel pexpire persist pttl time type zadd zrem zscore zcount zcard zrange
  zremrangebyrank`.split(/\s+/)

const IDS = ['a', 'b', 'c'].map((digit) => digit.repeat(32)) as [string, string, string]
const MINUTE = 60_000

/** A call that changes something, and what is on the server before it. */
interface Change {
  readonly what: string
  /** The number under the name. */
  readonly number?: number
  /** How long the leases of the permits last that are in use, in ms. Below 0: they have expired. */
  readonly leases?: readonly number[]
  readonly timeToLive?: number
  call(redisson: Redisson, name: string): Promise<unknown>
}

const leased = (what: string, call: (permits: RPermitExpirableSemaphore) => Promise<unknown>): Change => ({
  what,
  call: (own, name) => call(own.getPermitExpirableSemaphore(name)),
})

const CHANGES: readonly Change[] = [
  { what: 'tryAcquire()', number: 3, call: (own, name) => own.getSemaphore(name).tryAcquire(2) },
  { what: 'release()', number: 3, call: (own, name) => own.getSemaphore(name).release(2) },
  { what: 'release() into nothing', call: (own, name) => own.getSemaphore(name).release() },
  { what: 'releaseIfExists()', number: 3, call: (own, name) => own.getSemaphore(name).releaseIfExists() },
  { what: 'addPermits()', number: 3, call: (own, name) => own.getSemaphore(name).addPermits(2) },
  { what: 'drainPermits()', number: 3, call: (own, name) => own.getSemaphore(name).drainPermits() },
  { what: 'trySetPermits()', call: (own, name) => own.getSemaphore(name).trySetPermits(3) },
  { what: 'trySetPermits(…, ttl)', call: (own, name) => own.getSemaphore(name).trySetPermits(3, MINUTE) },
  { what: 'trySetCount()', call: (own, name) => own.getCountDownLatch(name).trySetCount(2) },
  { what: 'countDown()', number: 2, call: (own, name) => own.getCountDownLatch(name).countDown() },
  { what: 'the last countDown()', number: 1, call: (own, name) => own.getCountDownLatch(name).countDown() },
  { what: 'delete()', number: 2, call: (own, name) => own.getCountDownLatch(name).delete() },
  {
    what: 'trySetPermits() of permits with leases',
    leases: [MINUTE, -MINUTE],
    call: (own, name) => own.getPermitExpirableSemaphore(name).trySetPermits(3),
  },
  ...[
    leased('tryAcquire() of permits with leases', (permits) =>
      permits.tryAcquire({ permits: 2, leaseTime: MINUTE }),
    ),
    leased('release() of permits with leases', (permits) => permits.release(IDS[0])),
    leased('tryRelease() of permits with leases', (permits) => permits.tryRelease([IDS[0]])),
    leased('setPermits()', (permits) => permits.setPermits(9)),
    leased('addPermits() of permits with leases', (permits) => permits.addPermits(2)),
    leased('updateLeaseTime()', (permits) => permits.updateLeaseTime(IDS[0], 20 * MINUTE)),
    leased('availablePermits()', (permits) => permits.availablePermits()),
  ].flatMap((change) => [
    { ...change, number: 1, leases: [5 * MINUTE] },
    { ...change, what: `${change.what} beside expired ones`, number: 1, leases: [5 * MINUTE, -1, -MINUTE] },
    {
      ...change,
      what: `${change.what} with a time to live`,
      number: 1,
      leases: [5 * MINUTE],
      timeToLive: MINUTE,
    },
  ]),
]

describe('A refusal in the middle of a script of a semaphore or a latch', () => {
  const server = ownServer()

  redisAndName('test', { server })

  const setUser = (...rules: string[]) =>
    redis.call('ACL', 'SETUSER', 'app', 'reset', 'on', '>pw', '~*', '&*', '+@all', ...rules)

  async function connected(): Promise<Redisson> {
    await setUser()
    const redisson = await createRedisson({ redis: server.url.replace('redis://', 'redis://app:pw@') })
    redisson.on('error', () => {})
    return redisson
  }

  const settled = (redisson: Redisson) =>
    waitUntil('the background has finished', () => internalsOf(redisson).orphans.size === 0, 10_000)

  const inUse = (name: string) => `{${name}}:timeout`

  async function prepare({ number, leases = [], timeToLive }: Change): Promise<string> {
    const name = uniqueName('object')
    if (number !== undefined) await redis.set(name, number)
    for (const [index, lease] of leases.entries())
      await redis.zadd(inUse(name), Date.now() + lease, Buffer.from(IDS[index]!, 'hex'))
    if (timeToLive) await redis.pexpire(name, timeToLive)
    return name
  }

  /** What is on the server: minutes instead of times. Expired permits count as free, as any call may count them. */
  async function look(name: string) {
    const minutes = (ms: number) => Math.round(ms / MINUTE)
    const number = await redis.get(name)
    const scores = (await redis.zrange(inUse(name), 0, '-1', 'WITHSCORES'))
      .filter((_, index) => index % 2 === 1)
      .map((score) => Number(score) - Date.now())
    const expired = scores.filter((left) => left <= 0)
    return {
      number: number === null ? null : Number(number) + expired.length,
      leases: scores.filter((left) => left > 0).map(minutes),
      timeToLive: minutes(await redis.pttl(name)),
    }
  }

  for (const command of COMMANDS)
    for (const others of [[], ['hdel']])
      it(`What is refused changes nothing, may be repeated, without ${[command, ...others].join(' and ')} (V120)`, async () => {
        const redisson = await connected()
        const wanted = await Promise.all(
          CHANGES.map(async (change) => {
            const name = await prepare(change)
            const before = await look(name)
            await change.call(redisson, name)
            return { before, after: await look(name), name: await prepare(change) }
          }),
        )
        await setUser(`-${command}`, ...others.map((each) => `-${each}`))
        const refused = await Promise.all(
          CHANGES.map(async (change, index) => {
            const error = await change.call(redisson, wanted[index]!.name).then(
              () => {},
              (reason) => reason,
            )
            if (error) expect(error, change.what).to.be.instanceOf(RedisRefusedError)
            return error !== undefined
          }),
        )
        await setUser()
        await settled(redisson)
        for (const [index, { what, call }] of CHANGES.entries()) {
          const { before, after, name } = wanted[index]!
          if (!refused[index]) {
            expect(await look(name), `${what}, which was not refused`).to.deep.equal(after)
            continue
          }
          expect(await look(name), `${what}, refused`).to.deep.equal(before)
          await call(redisson, name)
          expect(await look(name), `${what}, repeated`).to.deep.equal(after)
        }
      })

  for (const command of COMMANDS)
    for (const others of [[], ['hdel'], ['hdel', 'decrby', 'incrby']])
      it(`A given-up acquisition loses and makes no permit, without ${[command, ...others].join(', ')} (V121)`, async () => {
        const redisson = await connected()
        const rights = [command, ...others].map((each) => `-${each}`)
        const semaphore = redisson.getSemaphore(name)
        await semaphore.trySetPermits(5)
        const given = new AbortController()
        const early = rejection(semaphore.acquire({ signal: given.signal }))
        given.abort(new Error('given up'))
        await setUser(...rights)
        const late = new AbortController()
        const acquiring = semaphore.acquire({ permits: 2, signal: late.signal }).then(
          () => 2,
          () => 0,
        )
        late.abort(new Error('given up'))
        await Promise.all([early, acquiring])
        await waitUntil('its permits were asked for', async () => (await redis.ping()) === 'PONG')
        await setUser()
        await settled(redisson)
        expect(await redis.get(name)).to.equal('5')
      })

  it('The repetition of a last countDown() that was refused wakes the waiters (V122)', async () => {
    const redisson = await connected()
    const other = await createRedisson({ redis: server.url })
    for (const command of ['del', 'hset', 'pexpire']) {
      const name = uniqueName('latch')
      const latch = redisson.getCountDownLatch(name)
      await latch.trySetCount(1)
      const waiting = other.getCountDownLatch(name).await(5_000)
      await waitUntil('it listens', async () => {
        const [, count] = (await redis.pubsub('NUMSUB', `redisson_countdownlatch__channel__{${name}}`)) as [
          string,
          number,
        ]
        return Number(count) > 0
      })
      await setUser(`-${command}`)
      expect(await rejection(latch.countDown()), command).to.be.instanceOf(RedisRefusedError)
      await setUser()
      await latch.countDown()
      expect(await waiting, command).to.equal(true)
    }
  })
})
