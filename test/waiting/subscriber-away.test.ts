import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { createRedisson, timed, uniqueName } from '../kit/clients'
import { name, redis, redisAndName } from '../kit/each-test'
import { ForeignLock } from '../kit/foreign-lock'
import { eventsOf } from '../kit/observing'
import { ownServer, waitUntil } from '../kit/servers/index'

const LEASE = 60_000
const PROMPTLY = 5_000

describe('waiting while messages cannot arrive', () => {
  const server = ownServer()

  // Connections are killed and users changed here, so the server is ours alone.

  redisAndName('test', { server })

  async function foreignLock() {
    const foreign = new ForeignLock(redis, uniqueName())
    await foreign.take(LEASE)
    return foreign
  }

  it('Without a subscription the first waiter tries once a second (guarantee 2)', async () => {
    await redis.call('ACL', 'SETUSER', 'deaf', 'on', '>secret', '~*', '&*', '+@all', '-subscribe')
    const foreign = await foreignLock()
    const redisson = await createRedisson({ redis: server.url.replace('redis://', 'redis://deaf:secret@') })
    const errors = eventsOf(redisson, 'error')
    const waiting = redisson.getLock(foreign.name).acquire()
    await waitUntil('the refusal is reported', () => errors.length > 0)
    expect(errors[0]!.message).to.contain('NOPERM')
    await foreign.release()
    expect(await timed(() => waiting)).to.be.lessThan(PROMPTLY)
    // What was wanted is forgotten with its waiter: nothing goes on being refused.
    await sleep(2_200)
    const before = errors.length
    await sleep(1_100)
    expect(errors.length).to.equal(before)
  })

  it('A PUBLISH that the server refuses fails no release, and local waiters wake (guarantee 8)', async () => {
    await redis.call('ACL', 'SETUSER', 'mute', 'on', '>secret', '~*', '&*', '+@all', '-publish')
    const redisson = await createRedisson({ redis: server.url.replace('redis://', 'redis://mute:secret@') })
    const lock = redisson.getLock(name)
    const hold = await lock.acquire()
    const waiting = lock.acquire()
    await waitUntil('it waits', async () => (await new ForeignLock(redis, name).listeners()) === 1)
    await sleep(100)
    await hold.unlock()
    expect(await timed(() => waiting)).to.be.lessThan(PROMPTLY)
    await (await waiting).unlock()
    expect(await redis.exists(name)).to.equal(0)
  })
})
