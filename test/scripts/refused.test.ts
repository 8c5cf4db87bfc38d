import { expect } from 'chai'
import { Redis } from 'ioredis'
import { RedisRefusedError, RedissonError } from '../../src/index'
import { Redisson } from '../../src/redisson'
import { createRedisson, rejection, timed, uniqueName } from '../kit/clients'
import { name, redis, redisAndName } from '../kit/each-test'
import { eventsOf } from '../kit/observing'
import { openProxy } from '../kit/proxies'
import { freshServer, ownServer, startStandalone, waitUntil } from '../kit/servers/index'
import { ScriptCounter } from '../kit/tapped-transport'

/** Far less than the ten seconds for which a call tries a server that is away. */
const AT_ONCE = 3_000

describe('What the server refuses is a RedisRefusedError, at once', () => {
  const server = ownServer()

  redisAndName('test', { server })

  const asUser = (name: string) => server.url.replace('redis://', `redis://${name}:secret@`)
  const setUser = (name: string, ...rules: string[]) =>
    redis.call('ACL', 'SETUSER', name, 'reset', 'on', '>secret', '~*', '&*', '+@all', ...rules)

  async function expectRefusal(call: () => Promise<unknown>, reply: RegExp): Promise<RedisRefusedError> {
    let error = new Error()
    const took = await timed(async () => {
      error = await rejection(call())
    })
    expect(error, String(error)).to.be.instanceOf(RedisRefusedError).and.instanceOf(RedissonError)
    expect(error).to.have.property('code', 'REDIS_REFUSED')
    expect((error as RedisRefusedError).reply).to.match(reply)
    expect(took).to.be.below(AT_ONCE)
    return error as RedisRefusedError
  }

  it('A missing right (NOPERM) is a RedisRefusedError of every call, with one event', async () => {
    await setUser('mute')
    const redisson = await createRedisson({ redis: asUser('mute') })
    const errors = eventsOf(redisson, 'error')
    const lock = redisson.getLock(name)
    const hold = await redisson.getLock(uniqueName()).acquire()
    await setUser('mute', '-evalsha')
    for (const call of [
      () => lock.lock(),
      () => lock.tryLock(),
      () => lock.tryLock(5_000),
      () => lock.isLocked(),
      () => lock.forceUnlock(),
      () => redisson.getReadWriteLock(uniqueName()).readLock().lock(),
      () => redisson.getReadWriteLock(uniqueName()).writeLock().lock(),
    ])
      await expectRefusal(call, /^NOPERM/)
    const { message } = await expectRefusal(() => lock.lock(), /^NOPERM/)
    expect(message).to.contain(name).and.contain('lock/acquire').and.contain('evalsha')
    await expectRefusal(() => hold.unlock(), /^NOPERM/)
    expect(errors).to.have.length(1)
    expect(errors[0]).to.be.instanceOf(RedisRefusedError)
    // The release goes on in the background until it is allowed.
    await setUser('mute')
    await waitUntil('it is released', async () => (await redis.exists(hold.lockName)) === 0)
  })

  it('A key out of bounds is a RedisRefusedError that names the keys that the user needs', async () => {
    await setUser('narrow', 'resetkeys', '~ours:*')
    const redisson = await createRedisson({ redis: asUser('narrow') })
    const { message } = await expectRefusal(() => redisson.getLock('theirs:1').lock(), /^NOPERM/)
    expect(message).to.contain('The user needs ~theirs:1')
    await redisson.getLock(`ours:${uniqueName()}`).withLock(() => {})
  })

  it("A command that a script may not use is a RedisRefusedError, in the server's words", async () => {
    await setUser('halved', '-pexpire')
    const redisson = await createRedisson({ redis: asUser('halved') })
    await expectRefusal(() => redisson.getLock(name).lock(), /user executing the script|ACL failure/)
    // HINCRBY came before it in the script.
    await waitUntil('what the script did is undone', async () => (await redis.exists(name)) === 0)
  })

  it('A command that the server does not know (rename-command) is a RedisRefusedError', async () => {
    const renamed = await freshServer({ config: ['rename-command EVALSHA ""'] })
    const redisson = await createRedisson({ redis: renamed.url })
    await expectRefusal(() => redisson.getLock(uniqueName()).lock(), /unknown command/)
    // The server quotes what came with the command: a name is no reason to try again.
    await expectRefusal(() => redisson.getLock('LOADING OOM READONLY').lock(), /unknown command/)
  })

  it('create() with a missing or wrong password is a RedisRefusedError, without it', async () => {
    const locked = await freshServer({ requirepass: 'right' })
    const { host, port } = locked
    await expectRefusal(() => Redisson.create({ redis: { host, port } }), /^NOAUTH/)
    const { message } = await expectRefusal(
      () => Redisson.create({ redis: { host, port, password: 'wrong' } }),
      /^WRONGPASS/,
    )
    expect(message).to.contain(`${host}:${port}`).and.not.contain('wrong')
  })

  it('A password that became wrong is a RedisRefusedError until it is right again', async () => {
    const own = await startStandalone({ requirepass: 'first' })
    const proxy = await openProxy(own)
    const admin = new Redis(own.url)
    try {
      const { host, port } = proxy
      const redisson = await createRedisson({ redis: { host, port, password: 'first' } })
      const errors = eventsOf(redisson, 'error')
      await admin.config('SET', 'requirepass', 'second')
      proxy.cut()
      await waitUntil('the refusal is reported', () => errors.length > 0)
      const lock = redisson.getLock(uniqueName())
      for (const call of [() => lock.lock(), () => lock.tryLock()]) await expectRefusal(call, /^WRONGPASS/)
      expect(errors).to.have.length(1)
      expect(errors[0]).to.be.instanceOf(RedisRefusedError)
      await admin.config('SET', 'requirepass', 'first')
      await waitUntil('it is let in again', async () => {
        return await lock.tryLock().catch(() => false)
      })
      await lock.unlock()
    } finally {
      admin.disconnect()
      await own.stop()
    }
  })

  it('An acquisition that was refused before it ran is not released over and over', async () => {
    await setUser('idle', '-evalsha')
    const scripts = new ScriptCounter()
    const redisson = await createRedisson({ redis: asUser('idle') }, { transport: scripts.transport })
    const lock = redisson.getLock(uniqueName())
    for (let i = 0; i < 20; i++) await expectRefusal(() => lock.lock(), /^NOPERM/)
    expect(scripts.of('lock/acquire')).to.equal(20)
    expect(scripts.of('lock/release')).to.equal(0)
  })
})
