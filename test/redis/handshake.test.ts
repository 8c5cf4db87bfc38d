import { expect } from 'chai'
import type { RedisOptions } from 'ioredis'
import type { RedissonOptions } from '../../src/index'
import { createRedisson, openRedis, timed, uniqueName } from '../kit/clients'
import {
  freshServer,
  ownCluster,
  ownSentinel,
  type Standalone,
  slowLoading,
  waitUntil,
  withClient,
  without,
} from '../kit/servers/index'

/** Within a connect timeout of 10 s. */
const QUICKLY = 5_000
const NO_INFO = `user bob on >builder ~* &* +@all -info ${without('cluster', 'info').join(' ')}`
const bob = { username: 'bob', password: 'builder' }

/** For a `describe`: this process prints nothing in its tests, but the warning that a right of the fence is missing. */
function nothingIsPrinted(): void {
  const printed: unknown[][] = []
  const { warn, error } = console
  const print = (...args: unknown[]) => {
    if (!String(args[0]).includes('RLOCK_FENCE_REFUSED')) printed.push(args)
  }
  beforeEach(() => {
    printed.length = 0
    console.warn = print
    console.error = print
  })
  afterEach(() => {
    console.warn = warn
    console.error = error
    expect(printed).to.deep.equal([])
  })
}

/** Two clients, of which one waits for the other. */
async function locks(redis: RedissonOptions['redis']): Promise<void> {
  const took = await timed(async () => {
    const [holder, other] = [await createRedisson({ redis }), await createRedisson({ redis })]
    const name = uniqueName()
    const held = await holder.getLock(name).acquire()
    const waiting = other.getLock(name).acquire()
    await held.unlock()
    await (await waiting).unlock()
  })
  expect(took).to.be.below(QUICKLY)
}

describe('A handshake prints nothing and asks for no more than it may, on a single server', () => {
  let server: Standalone
  nothingIsPrinted()

  const start = async (...config: string[]) => {
    server = await freshServer({ config })
    return { host: server.host, port: server.port }
  }

  it('A handshake prints nothing with a server that needs no password but is given one', async () => {
    const address = await start()
    await locks({ ...address, password: 'not needed' })
    await locks({ ...address, username: 'default', password: 'not needed' })
  })

  it('A handshake prints nothing with a needless password and without HELLO', async () => {
    await locks({ ...(await start('rename-command HELLO ""')), password: 'not needed' })
  })

  it('A handshake prints nothing with a server whose user may not ask for INFO', async () => {
    const address = await start(NO_INFO)
    await locks({ ...address, ...bob })
    await locks({ ...address, ...bob, db: 3 })
  })

  it('A handshake prints nothing and asks for no more than it may with a server that has no INFO', async () => {
    const address = await start('rename-command INFO ""')
    await locks(address)
    await locks({ ...address, db: 3 })
  })

  it('A handshake prints nothing with a server that has no SELECT but for database 0', async () => {
    await locks(await start('rename-command SELECT ""'))
  })

  it('A handshake prints nothing with a server that is loading at the creation', async () => {
    server = await freshServer({
      appendonly: true,
      config: await slowLoading(),
    })
    const admin = await openRedis(server.url)
    await admin.eval("for i = 1, 4000 do redis.call('set', 'key' .. i, 'x') end", 0)
    admin.disconnect()
    const restarting = server.restart()
    await waitUntil('the server is loading', async () =>
      withClient(server, (client) =>
        client.get('key1').then(
          () => false,
          ({ message }) => message.startsWith('LOADING'),
        ),
      ),
    )
    const redisson = await createRedisson({ redis: `${server.url}/2` })
    expect(await redisson.getLock(uniqueName()).tryLock()).to.equal(true)
    await restarting
  })
})

describe('A handshake prints nothing and asks for no more than it may, behind Sentinel', () => {
  const setup = ownSentinel({ config: [NO_INFO] })
  nothingIsPrinted()

  const source = (more: Partial<RedisOptions> = {}): RedisOptions => ({
    sentinels: setup.sentinels.map(({ host, port }) => ({ host, port })),
    name: setup.name,
    ...more,
  })

  it('A handshake prints nothing behind Sentinel with needless passwords', async () => {
    await locks(source({ password: 'not needed', sentinelPassword: 'not needed' }))
  })

  it('A handshake prints nothing behind Sentinel with a user without INFO', async () => {
    await locks(source({ ...bob, db: 3 }))
  })

  it('A handshake prints nothing while one sentinel is down, before or after', async () => {
    const redisson = await createRedisson({ redis: source() })
    await setup.sentinels[0]!.kill()
    try {
      await locks(source())
      await redisson.getLock(uniqueName()).withLock(() => {})
    } finally {
      await setup.sentinels[0]!.restart()
    }
  })
})

describe('A handshake prints nothing and asks for no more than it may, in a cluster', () => {
  const setup = ownCluster({ config: [NO_INFO] })
  nothingIsPrinted()

  const nodes = () => setup.nodes.map(({ host, port }) => ({ host, port }))

  it('A handshake prints nothing with a cluster that needs no password but is given one', async () => {
    await locks({ nodes: nodes(), options: { redisOptions: { password: 'not needed' } } })
  })

  it('A handshake prints nothing with a cluster whose user may use no INFO', async () => {
    await locks({ nodes: nodes(), options: { redisOptions: bob } })
  })
})
