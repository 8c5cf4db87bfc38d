import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { createRedisson, openRedis, rejection, uniqueName } from '../kit/clients'
import { errorMessagesOf } from '../kit/observing'
import { freshServer, startStandalone, waitUntil } from '../kit/servers/index'
import { behindSentinel, DB } from './app-in-database'

describe('A connection whose SELECT fails', () => {
  it('A connection is not used when the server comes back with fewer databases', async () => {
    const server = await freshServer()
    const redisson = await createRedisson({ redis: `${server.url}/${DB}` })
    const reported = errorMessagesOf(redisson)
    await server.restart({ keepData: false, config: ['databases 1'] })
    const out = /DB index is out of range.*database 5/
    await waitUntil('the outage is reported', () => reported.some((message) => out.test(message)))
    const name = uniqueName()
    expect((await rejection(redisson.getLock(name).lock())).message).to.match(out)
    const inZero = await openRedis(server.url)
    expect(await inZero.dbsize()).to.equal(0)

    await server.restart({ keepData: false, config: ['databases 16'] })
    await waitUntil('it locks again', async () => await redisson.getLock(name).tryLock(1_000))
    expect(await (await openRedis(`${server.url}/${DB}`)).exists(name)).to.equal(1)
    expect(await (await openRedis(server.url)).dbsize()).to.equal(0)
  })

  it('A connection for replica-acknowledged acquisitions whose SELECT fails is not used', async () => {
    const place = await behindSentinel()
    const { host, port } = place.server
    const admin = await openRedis(`redis://${host}:${port}`)
    const inDatabase = await openRedis(`redis://${host}:${port}/${DB}`)
    const app = await createRedisson({ redis: place.app })
    const reported = errorMessagesOf(app)
    const hold = await app.getLock(uniqueName()).acquire()
    await admin.call('ACL', 'SETUSER', 'app', '-select')
    const clients = String(await admin.client('LIST')).split('\n')
    const acknowledged = clients.filter((line) => / cmd=wait /.test(line) && / user=app /.test(line))
    expect(acknowledged).to.have.length(1)
    await admin.client('KILL', 'ID', Number(/id=(\d+)/.exec(acknowledged[0]!)![1]))
    const name = uniqueName()
    await waitUntil('it is opened again', async () => {
      const error = await rejection(app.getLock(name).tryLock(1_000))
      return /NOPERM.*select/.test(error.message)
    })
    expect(reported.filter((message) => /NOPERM.*select/.test(message))).to.have.length(1)
    expect(reported.filter((message) => message.includes('WAIT'))).to.deep.equal([])
    expect(await inDatabase.exists(name)).to.equal(0)
    expect(await admin.dbsize()).to.equal(0)
    expect((await rejection(app.getLock(hold.lockName).lock())).code).to.equal('REDIS_REFUSED')
    // The other connections are in their database still.
    await hold.unlock()
    expect(await inDatabase.exists(hold.lockName)).to.equal(0)
  })

  for (const [what, lastCommand] of [
    ['connection for replica-acknowledged acquisitions', 'wait'],
    ['subscriber', 'subscribe'],
  ] as const)
    it(`A refusal of the ${what} is forgotten with it`, async () => {
      const place = await behindSentinel()
      const admin = await openRedis(`redis://${place.server.host}:${place.server.port}`)
      const app = await createRedisson({ redis: place.app })
      const reported = errorMessagesOf(app)
      await app.getLock(uniqueName()).withLock(() => {})
      const connection = async (command: string) => {
        const clients = String(await admin.client('LIST')).split('\n')
        return clients.find((each) => each.includes(` cmd=${command}`) && each.includes(' user=app '))
      }
      const kill = async (command: string) =>
        await admin.client('KILL', 'ID', Number(/id=(\d+)/.exec((await connection(command))!)![1]))
      await admin.call('ACL', 'SETUSER', 'app', '-select')
      await kill(lastCommand)
      await waitUntil('the refusal is reported', () =>
        reported.some((message) => /NOPERM.*select/.test(message)),
      )
      await admin.call('ACL', 'SETUSER', 'app', '+select')
      const locks = () => app.getLock(uniqueName()).tryLock(2_000)
      await waitUntil('it locks again', () => locks().catch(() => false))
      await waitUntil('it is back', async () => (await connection(lastCommand)) !== undefined)
      // The connection for commands is away for a moment, and no server has refused it.
      await kill('eval')
      for (let tries = 0; tries < 30; tries++) {
        expect(await locks()).to.equal(true)
        await sleep(2)
      }
    })

  it('An ioredis that does not let its handshake be checked is refused', async () => {
    const server = await startStandalone()
    const { Redis } = await import('ioredis')
    const { _readyCheck: original } = Redis.prototype as unknown as Record<string, unknown>
    // As if it asked in another way whether the server is ready.
    const replace = (method: unknown) => Object.assign(Redis.prototype, { _readyCheck: method })
    replace((done: (error: unknown, info: object) => void) => done(null, {}))
    try {
      const error = await rejection(createRedisson({ redis: `${server.url}/${DB}` }))
      expect(error.message).to.match(/ioredis/)
    } finally {
      replace(original)
      await server.stop()
    }
  })
})
