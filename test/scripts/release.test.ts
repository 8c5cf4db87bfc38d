import { expect } from 'chai'
import { ANSWER } from '../../src/engine/release-reply'
import { lockChannel } from '../../src/locks/hash-lock-kind'
import { luaSources } from '../../src/scripts/lua.generated'
import { openRedis } from '../kit/clients'
import { name, redis, redisAndName } from '../kit/each-test'
import { needs, ownServer } from '../kit/servers/index'

const OWNER = 'this-client:1'

describe('Answers of lock/release.lua', () => {
  const server = ownServer()

  // Users are changed here, so the server is ours alone.

  redisAndName('test', { server })
  beforeEach(async () => {
    await redis.hset(name, OWNER, 1)
  })

  const release = (by = redis, publish = 'PUBLISH', owner = OWNER) =>
    by.eval(luaSources['lock/release'], 1, name, owner, 0, 0, lockChannel(name), publish, 0)

  it('The release script answers freed, when no client listens', async () => {
    expect(await release()).to.equal(ANSWER.freed)
    expect(await redis.exists(name)).to.equal(0)
  })

  for (const listeners of [1, 3])
    for (const [publish, subscribe] of [
      ['PUBLISH', 'subscribe'],
      ['SPUBLISH', 'ssubscribe'],
    ] as const)
      it(`release answers freed and the clients notified by ${publish}: ${listeners}`, async function () {
        if (publish === 'SPUBLISH') await needs(this, 'sharded pub/sub')
        for (let each = 0; each < listeners; each++)
          await (await openRedis(server.url))[subscribe](lockChannel(name))
        expect(await release(redis, publish)).to.deep.equal([ANSWER.freed, listeners])
        expect(await redis.exists(name)).to.equal(0)
      })

  it('The release script answers freed but not published, when the user may not publish', async () => {
    await (await openRedis(server.url)).subscribe(lockChannel(name))
    await redis.call('ACL', 'SETUSER', 'mute', 'on', '>secret', '~*', '&*', '+@all', '-publish')
    const mute = await openRedis(server.url.replace('redis://', 'redis://mute:secret@'))
    expect(await release(mute)).to.equal(ANSWER.freedUnpublished)
    expect(await redis.exists(name)).to.equal(0)
  })

  it('The release script answers not held and publishes nothing, when it runs again', async () => {
    const ear = await openRedis(server.url)
    const messages: string[] = []
    ear.on('message', (_, message) => messages.push(message))
    await ear.subscribe(lockChannel(name))
    await release()
    expect(await release()).to.equal(ANSWER.notHeld)
    await ear.ping()
    expect(messages).to.deep.equal(['0'])
  })

  it("The release script answers not held, when it is another's, and changes nothing of that", async () => {
    expect(await release(redis, 'PUBLISH', 'another-client:1')).to.equal(ANSWER.notHeld)
    expect(await redis.hgetall(name)).to.deep.equal({ [OWNER]: '1' })
  })
})
