import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { createRedisson, openRedis, uniqueName } from '../kit/clients'
import { redis, redisAndName } from '../kit/each-test'
import { eventsOf } from '../kit/observing'
import { ownServer, sharedSentinel, waitUntil } from '../kit/servers/index'
import { ScriptCounter } from '../kit/tapped-transport'

const WATCHDOG = 3_000
/** The next renewal of a hold comes within this time, also on a busy machine. */
const RENEWED = WATCHDOG / 3 + 2_000

describe('A renewed lock that is taken away on the server', () => {
  const server = ownServer()

  // Databases are flushed here, so no other file uses this server.

  redisAndName('test', { server })
  beforeEach(async () => {
    await redis.flushall()
  })

  async function create(scripts = new ScriptCounter(), lockWatchdogTimeout = WATCHDOG) {
    const redisson = await createRedisson(
      { redis: server.url, lockWatchdogTimeout },
      { transport: scripts.transport },
    )
    const lost = eventsOf(redisson, 'lockLost')
    return { redisson, lost }
  }

  it('A FLUSHDB of another database and a PUBLISH on __redis__:invalidate cause no renewal (V24)', async () => {
    const scripts = new ScriptCounter()
    const { redisson, lost } = await create(scripts)
    const hold = await redisson.getLock(uniqueName()).acquire()
    const renewals = () => scripts.of('lock/renew')
    await waitUntil('the lock was renewed', () => renewals() > 0, RENEWED)
    const another = await openRedis(server.url)
    await another.select(1)
    const before = renewals()
    for (let times = 0; times < 10; times++) {
      await another.publish('__redis__:invalidate', hold.lockName)
      await another.flushdb()
      await sleep(150)
    }
    // The watchdog itself renews once a second.
    expect(renewals() - before).to.be.at.most(4)
    expect(lost).to.deep.equal([])
    await hold.unlock()
  })

  it('Behind Sentinel a renewal notices a forced release, and causes no other one (C5)', async () => {
    const setup = await sharedSentinel()
    const scripts = new ScriptCounter()
    const redisson = await createRedisson(
      {
        redis: { sentinels: setup.sentinels.map(({ host, port }) => ({ host, port })), name: setup.name },
        lockWatchdogTimeout: 9_000,
        // Short enough for replicas to acknowledge the renewals, which takes them over a connection of their own.
        slavesSyncTimeout: 500,
      },
      { transport: scripts.transport },
    )
    const hold = await redisson.getLock(uniqueName()).acquire()
    const gone = await redisson.getLock(uniqueName()).acquire()
    const { host, port } = await setup.primary()
    await waitUntil('one was renewed', () => scripts.of('lock/renew') > 0, 5_000)
    // And the other, which was acquired a moment later.
    await sleep(500)
    const renewals = scripts.of('lock/renew')
    await sleep(1_000)
    expect(scripts.of('lock/renew')).to.equal(renewals)
    await (await openRedis(`redis://${host}:${port}`)).del(gone.lockName)
    await waitUntil('the loss is noticed', () => gone.signal.aborted, 5_000)
    expect(hold.isHeld).to.equal(true)
    await hold.unlock()
  })
})
