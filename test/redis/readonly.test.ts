import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { Redisson } from '../../src/index'
import { connectionOptions } from '../../src/redis/connect/connection-options'
import { resolveTarget } from '../../src/redis/target/target'
import { createRedisson, rejection, uniqueName } from '../kit/clients'
import { freshServer, startStandalone, withClient } from '../kit/servers/index'

// D6.
describe('A server that turns into a replica', () => {
  it('A server that turns into a replica is READONLY: a call waits within its wait', async () => {
    const server = await freshServer()
    const primary = await freshServer()
    const redisson = await createRedisson({ redis: server.url })
    const lock = redisson.getLock(uniqueName())
    const { host, port } = primary
    await withClient(server, (client) => client.replicaof(host, port))
    const acquiring = lock.tryLock(30_000)
    // A call without a wait does not get past the one that waits; and nothing says that the lock is held.
    expect((await rejection(lock.tryLock())).code).to.equal('REDIS_UNAVAILABLE')
    await withClient(server, (client) => client.replicaof('NO', 'ONE'))
    expect(await acquiring).to.equal(true)
    await lock.unlock()
  })

  it('A server that turns into a replica and stays one rejects the call with that reason', async () => {
    const server = await freshServer()
    const primary = await freshServer()
    const redisson = await createRedisson({ redis: server.url }, { unavailableAfter: 1_000 })
    await withClient(server, (client) => client.replicaof(primary.host, primary.port))
    const error = await rejection(redisson.getLock(uniqueName()).tryLock())
    expect(error.code).to.equal('REDIS_UNAVAILABLE')
    expect(error.message).to.contain('READONLY')
  })

  it('The event of calls that meet a replica says that the address is a replica', async () => {
    const server = await freshServer()
    const redisson = await createRedisson({ redis: server.url })
    const unavailable = new Promise<{ error: Error }>((resolve) => redisson.once('unavailable', resolve))
    await withClient(server, (client) => client.replicaof('127.0.0.1', 1))
    const enough = new AbortController()
    const waiting = redisson
      .getLock(uniqueName())
      .acquire({ signal: enough.signal })
      .catch(() => 'left')
    const { error } = await unavailable
    expect(error.message).to.contain('READONLY').and.to.contain('is a replica')
    enough.abort()
    expect(await waiting).to.equal('left')
  })

  it('create() at a replica waits for it to become the primary, and rejects when it does not', async () => {
    const server = await freshServer()
    await withClient(server, (client) => client.replicaof('127.0.0.1', 1))
    const { host, port } = server
    const refused = await rejection(Redisson.create({ redis: { host, port, connectTimeout: 700 } }))
    expect(refused).to.have.property('code', 'REDIS_UNAVAILABLE')
    expect(refused.message).to.contain(`${host}:${port} is a replica`).and.to.contain('sentinels')
    const creating = createRedisson({ redis: { host, port, connectTimeout: 30_000 } })
    await sleep(300)
    await withClient(server, (client) => client.replicaof('NO', 'ONE'))
    await (await creating).getLock(uniqueName()).withLock(() => {})
  })

  it('A server that turns into a replica answers many calls, without more listeners (A13)', async () => {
    const server = await startStandalone()
    const warnings: Error[] = []
    const note = (warning: Error) => warnings.push(warning)
    process.on('warning', note)
    try {
      const redisson = await createRedisson({ redis: server.url })
      const locks = Array.from({ length: 30 }, () => redisson.getLock(uniqueName()))
      await withClient(server, (client) => client.replicaof('127.0.0.1', 1))
      const errors = locks.map((lock) => rejection(lock.tryLock()))
      for (const { code } of await Promise.all(errors)) expect(code).to.equal('REDIS_UNAVAILABLE')
      // A warning is emitted a turn later.
      await new Promise(setImmediate)
      expect(warnings).to.deep.equal([])
    } finally {
      process.off('warning', note)
      await server.stop()
    }
  })

  it('A client leaves a server that became a replica, for every wording of the error', () => {
    const { reconnectOnError } = connectionOptions(resolveTarget('redis://host'))
    const said = [
      "READONLY You can't write against a read only replica.",
      "ERR Error running script (call to f_ab): @user_script:1: @user_script: 1: -READONLY You can't write against a read only replica.",
    ]
    for (const message of said) expect(reconnectOnError!(new Error(message)), message).to.equal(true)
    expect(reconnectOnError!(new Error('ERR value is not an integer'))).to.equal(false)
  })
})
