import { expect } from 'chai'
import { RedisRefusedError, type Redisson } from '../../src/index'
import { createRedisson, rejection, uniqueName } from '../kit/clients'
import { name, redis, redisAndName } from '../kit/each-test'
import { internalsOf } from '../kit/internals'
import { JumpingClock } from '../kit/jumping-clock'
import { eventsOf } from '../kit/observing'
import { ownServer, waitUntil } from '../kit/servers/index'
import { asleep } from '../kit/sleepers'
import { tapped } from '../kit/tapped-transport'

describe('Fair locks, token locks, semaphores and latches of a user with few rights', () => {
  const server = ownServer()

  redisAndName('test', { server })

  async function asUser(...rules: string[]): Promise<{ redisson: Redisson; errors: Error[] }> {
    await redis.call('ACL', 'SETUSER', 'app', 'reset', 'on', '>pw', '+@all', ...rules)
    const redisson = await createRedisson({ redis: server.url.replace('redis://', 'redis://app:pw@') })
    const errors = eventsOf(redisson, 'error')
    return { redisson, errors }
  }

  /** The channels that the errors say are to be granted. */
  const grantsIn = (errors: readonly Error[]) =>
    errors
      .filter(({ message }) => /PUBLISH/.test(message))
      .map(({ message }) => /\+publish &(\S+),/.exec(message)?.[1])

  it('Where messages are refused, permits come back, waiters enter, and an error says so', async () => {
    const { redisson, errors } = await asUser('~*', 'resetchannels', '&redisson_lock__channel:*')
    const semaphore = redisson.getSemaphore(name)
    await redis.set(name, 0)
    const waiting = semaphore.acquire()
    await semaphore.release()
    await waiting
    const permits = redisson.getPermitExpirableSemaphore(uniqueName('permits'))
    await permits.setPermits(1)
    const permit = await permits.acquirePermit()
    const waitingForPermit = permits.acquire()
    await permit.release()
    await waitingForPermit
    const latch = redisson.getCountDownLatch(uniqueName('latch'))
    await latch.trySetCount(1)
    const waitingForLatch = latch.await()
    await latch.countDown()
    await waitingForLatch
    expect(grantsIn(errors)).to.deep.equal(['redisson_sc:*', 'redisson_countdownlatch__channel__*'])
    expect(errors.map(({ message }) => message).join('\n')).to.include(`the semaphore "${name}"`)
  })

  it('Where messages are refused, a change without a message does not end the outage', async () => {
    await redis.call('ACL', 'SETUSER', 'app', 'reset', 'on', '>pw', '+@all', '~*', '&*', '-publish')
    const url = server.url.replace('redis://', 'redis://app:pw@')
    const clock = new JumpingClock()
    const redisson = await createRedisson({ redis: url }, { clock })
    const errors = eventsOf(redisson, 'error')
    const semaphore = redisson.getSemaphore(uniqueName('semaphore'))
    const permits = redisson.getPermitExpirableSemaphore(uniqueName('permits'))
    const latch = redisson.getCountDownLatch(uniqueName('latch'))
    const needsNone: [string, () => Promise<unknown>][] = [
      ['trySetPermits(0)', () => redisson.getSemaphore(uniqueName('semaphore')).trySetPermits(0)],
      ['addPermits(-1)', () => semaphore.addPermits(-1)],
      [
        'trySetPermits(0), with leases',
        () => redisson.getPermitExpirableSemaphore(uniqueName('permits')).trySetPermits(0),
      ],
      ['addPermits(-1), with leases', () => permits.addPermits(-1)],
      ['setPermits(0)', () => permits.setPermits(0)],
      ['a release of no permit in use', () => rejection(permits.release('0'.repeat(32)))],
      ['a countDown() that does not open', () => latch.countDown()],
    ]
    const publishing = async () => {
      await semaphore.addPermits(1)
      await latch.delete()
      await latch.trySetCount(9)
    }
    await publishing()
    expect(grantsIn(errors)).to.deep.equal(['redisson_sc:*', 'redisson_countdownlatch__channel__*'])
    for (const [what, change] of needsNone) {
      await change()
      // Later than the errors of one outage follow each other.
      clock.jumped += 6_000
      await publishing()
      expect(grantsIn(errors), what).to.have.length(2)
    }
  })

  it('Where messages are refused, fair and token locks are free; one error says why', async () => {
    // The waiters of a fair lock have channels of their own below that of the lock.
    const { redisson, errors } = await asUser('~*', 'resetchannels', '&redisson_lock__channel:{*}')
    const fair = redisson.getFairLock(name)
    const token = redisson.getTokenLock(uniqueName('token'))
    for (let times = 0; times < 2; times++) {
      for (const lock of [fair, token]) {
        await lock.lock()
        const waiting = lock.acquire()
        if (lock === fair)
          await waitUntil(
            'it queues',
            async () => (await redis.exists(`redisson_lock_queue:{${name}}`)) === 1,
          )
        await lock.unlock()
        await (await waiting).unlock()
      }
    }
    expect(grantsIn(errors)).to.deep.equal(['redisson_lock__channel:*', 'rlock_token:*'])
  })

  it('What withPermits could not release is released once when the right is back', async () => {
    const { redisson } = await asUser('~*', '&*')
    const semaphore = redisson.getSemaphore(name)
    await semaphore.trySetPermits(2)
    const losesRights = () => redis.call('ACL', 'SETUSER', 'app', '-eval', '-evalsha')
    const error = await rejection(semaphore.withPermits(losesRights, { permits: 2 }))
    expect(error).to.be.instanceOf(RedisRefusedError)
    expect(await redis.get(name)).to.equal('0')
    await redis.call('ACL', 'SETUSER', 'app', '+@all')
    await waitUntil('the permits are back', async () => (await redis.get(name)) !== '0', 10_000)
    await waitUntil('nothing is under way', () => internalsOf(redisson).orphans.size === 0, 10_000)
    expect(await redis.get(name)).to.equal('2')
  })

  it('A change with a lost reply before a refused user is made once (S2, L3)', async () => {
    await redis.call('ACL', 'SETUSER', 'app', 'reset', 'on', '>pw', '+@all', '~*', '&*')
    let losesReplies = false
    const transport = tapped(async (sent) => {
      const reply = await sent.pass()
      if (!losesReplies || sent.bySource) return reply
      losesReplies = false
      await redis.call('ACL', 'SETUSER', 'app', '-eval', '-evalsha')
      throw new Error('Connection is closed.')
    })
    const redisson = await createRedisson(
      { redis: server.url.replace('redis://', 'redis://app:pw@') },
      { transport },
    )
    const semaphore = redisson.getSemaphore(name)
    await semaphore.trySetPermits(2)
    const latchName = uniqueName('latch')
    const countDownLatch = redisson.getCountDownLatch(latchName)
    await countDownLatch.trySetCount(5)
    // The scripts are known to the server from here on.
    for (const change of [
      () => semaphore.release(),
      () => semaphore.addPermits(1),
      () => countDownLatch.countDown(),
    ]) {
      await change()
      losesReplies = true
      // Else the caller would repeat it.
      expect(await rejection(change())).to.have.property('code', 'REDIS_UNAVAILABLE')
      await redis.call('ACL', 'SETUSER', 'app', '+@all')
    }
    await waitUntil('nothing is under way', () => internalsOf(redisson).orphans.size === 0, 10_000)
    expect(await redis.get(name)).to.equal('6')
    expect(await redis.get(latchName)).to.equal('3')
  })

  it('A user without the right to change the count takes, gets and loses no permit (S2)', async () => {
    const { redisson } = await asUser('~*', '&*', '-decrby', '-incrby')
    const semaphore = redisson.getSemaphore(name)
    await redis.set(name, 3)
    for (let round = 0; round < 3; round++)
      expect(await rejection(semaphore.acquire())).to.be.instanceOf(RedisRefusedError)
    await waitUntil('nothing is under way', () => internalsOf(redisson).orphans.size === 0, 10_000)
    expect(await redis.get(name)).to.equal('3')
    await redis.call('ACL', 'SETUSER', 'app', '+decrby')
    expect(await rejection(semaphore.withPermits(() => {}))).to.be.instanceOf(RedisRefusedError)
    expect(await redis.get(name)).to.equal('2')
    await redis.call('ACL', 'SETUSER', 'app', '+incrby')
    await waitUntil('the permit is back', async () => (await redis.get(name)) === '3', 10_000)
  })

  it('A user without the right to the record of requests learns which keys it needs', async () => {
    const { redisson } = await asUser(`~${name}`, '&*')
    const error = await rejection(redisson.getSemaphore(name).trySetPermits(1))
    expect(error).to.be.instanceOf(RedisRefusedError)
    expect(error.message).to.contain(`~${name} and ~rlock_requests:{${name}}:*`)
    const { redisson: allowed } = await asUser(`~${name}`, '~rlock_requests:*', '&*')
    const semaphore = allowed.getSemaphore(name)
    await semaphore.trySetPermits(1)
    await semaphore.acquire()
    const waiting = semaphore.acquire()
    await asleep(allowed, `semaphore ${name}`)
    await semaphore.release()
    await waiting
  })
})
