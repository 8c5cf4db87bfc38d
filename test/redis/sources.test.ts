import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { Redis } from 'ioredis'
import { createRedisson, openRedis } from '../kit/clients'
import { provesLocking, through } from '../kit/proves-locking'
import { type Standalone, skipInContainers, startStandalone } from '../kit/servers/index'

const NO_SOCKET = 'its sockets are files of its own'

// The names and channels of each source are the same; a client of another kind (here a bare URL) must
// always find the lock, and be woken by its release.
describe('Where Redis is, given as', () => {
  let server: Standalone
  let socketPath: string

  before(async () => {
    socketPath = join(tmpdir(), `rlock-test-${process.pid}.sock`)
    server = await startStandalone({
      requirepass: 'p@ss/w:rd %41',
      config: ['user alice on >wonder@land:# ~* &* +@all', `unixsocket ${socketPath}`],
    })
  })
  after(() => server.stop())

  const plain = () => ({ host: server.host, port: server.port, password: 'p@ss/w:rd %41' })
  const url = (path = '') => `${server.url}${path}`

  it('Redis may be given as a URL with a password', async () => {
    await provesLocking(
      await createRedisson({ redis: url() }),
      await createRedisson({ redis: plain() }),
      through(await openRedis(url())),
    )
  })

  it('Redis may be given as a URL with an ACL user and a percent-encoded password', async () => {
    const redis = `redis://alice:${encodeURIComponent('wonder@land:#')}@${server.host}:${server.port}`
    await provesLocking(
      await createRedisson({ redis }),
      await createRedisson({ redis: url() }),
      through(await openRedis(url())),
    )
  })

  it('Redis may be given as a URL with a database', async () => {
    await provesLocking(
      await createRedisson({ redis: url('/5') }),
      await createRedisson({ redis: { ...plain(), db: 5 } }),
      through(await openRedis(url('/5'))),
    )
  })

  // Channels know no databases: a message from another one wakes for nothing, and must do no harm.
  it('Redis may be given with another database, where the same name is another lock', async () => {
    const first = await createRedisson({ redis: url('/1') })
    const second = await createRedisson({ redis: url('/2') })
    const held = await first.getLock('same name').acquire()
    expect(await second.getLock('same name').tryLock()).to.equal(true)
    await held.unlock()
    expect(await second.getLock('same name').isHeldByCurrentThread()).to.equal(false)
    expect(await second.getLock('same name').isLocked()).to.equal(true)
  })

  it('Redis may be given as the path of a unix socket in options', async function () {
    await skipInContainers(this, NO_SOCKET)
    await provesLocking(
      await createRedisson({ redis: { path: socketPath, password: plain().password, db: 3 } }),
      await createRedisson({ redis: { ...plain(), db: 3 } }),
      through(await openRedis(url('/3'))),
    )
  })

  it('Redis may be given as a URL of Valkey, as text or as an object', async () => {
    const redis = new URL(url('/5').replace('redis:', 'valkey:'))
    await provesLocking(
      await createRedisson({ redis }),
      await createRedisson({ redis: redis.href }),
      through(await openRedis(url('/5'))),
    )
  })

  it('Redis may be given as a URL of a unix socket, as text or as an object', async function () {
    await skipInContainers(this, NO_SOCKET)
    const password = encodeURIComponent(plain().password)
    await provesLocking(
      await createRedisson({ redis: `redis+unix://:${password}@${socketPath}?db=3` }),
      await createRedisson({ redis: new URL(`redis+unix://${socketPath}?db=3&password=${password}`) }),
      through(await openRedis(url('/3'))),
    )
  })

  it('Redis may be given with numbers as text, as environment variables have them', async () => {
    const redis = { ...plain(), port: String(server.port), db: '5' } as object
    await provesLocking(
      await createRedisson({ redis }),
      await createRedisson({ redis: url('/5') }),
      through(await openRedis(url('/5'))),
    )
  })

  it('Redis may be given as ioredis options that would harm locks, without effect', async () => {
    const options = {
      ...plain(),
      commandTimeout: 1,
      enableAutoPipelining: true,
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      readOnly: true,
      retryStrategy: () => null,
    }
    const holder = await createRedisson({ redis: options })
    await provesLocking(holder, await createRedisson({ redis: options }), through(await openRedis(url())))
    // A retry strategy that gives up would leave a client that never comes back.
    await (await openRedis(url())).call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
    expect(await holder.getLock('after the break').tryLock(5_000)).to.equal(true)
  })

  it('Redis may be given as an address that may not ask for INFO', async () => {
    const admin = new Redis(server.url)
    await admin.call('ACL', 'SETUSER', 'bob', 'on', '>builder', '~*', '&*', '+@all', '-info')
    admin.disconnect()
    const bob = await createRedisson({ redis: { ...plain(), username: 'bob', password: 'builder' } })
    await provesLocking(bob, await createRedisson({ redis: url() }), through(await openRedis(url())))
  })
})
