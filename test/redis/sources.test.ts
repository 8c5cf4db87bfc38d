import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { Redis } from 'ioredis'
import type { RedissonOptions } from '../../src/index'
import { createRedisson, openRedis, uniqueName } from '../kit/clients'
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

  type Source = () => RedissonOptions['redis']
  const encoded = () => encodeURIComponent(plain().password)
  const valkey = () => new URL(url('/5').replace('redis:', 'valkey:'))
  /** Two ways to say the same, and the path of the URL at which the lock is looked for. */
  const sources: [string, Source, Source, string][] = [
    ['a URL with a password', () => url(), plain, ''],
    [
      'a URL with an ACL user and a percent-encoded password',
      () => `redis://alice:${encodeURIComponent('wonder@land:#')}@${server.host}:${server.port}`,
      () => url(),
      '',
    ],
    ['a URL with a database', () => url('/5'), () => ({ ...plain(), db: 5 }), '/5'],
    [
      'the path of a unix socket in options',
      () => ({ path: socketPath, password: plain().password, db: 3 }),
      () => ({ ...plain(), db: 3 }),
      '/3',
    ],
    ['a URL of Valkey, as text or as an object', valkey, () => valkey().href, '/5'],
    [
      'a URL of a unix socket, as text or as an object',
      () => `redis+unix://:${encoded()}@${socketPath}?db=3`,
      () => new URL(`redis+unix://${socketPath}?db=3&password=${encoded()}`),
      '/3',
    ],
    [
      'options with numbers as text, as environment variables have them',
      () => ({ ...plain(), port: String(server.port), db: '5' }) as object,
      () => url('/5'),
      '/5',
    ],
  ]
  for (const [what, one, other, path] of sources)
    it(`Redis may be given as ${what}`, async function () {
      if (what.includes('unix socket')) await skipInContainers(this, NO_SOCKET)
      await provesLocking(
        await createRedisson({ redis: one() }),
        await createRedisson({ redis: other() }),
        through(await openRedis(url(path))),
      )
    })

  // Channels know no databases: a message from another one wakes for nothing, and must do no harm.
  it('Redis may be given with another database, where the same name is another lock', async () => {
    const first = await createRedisson({ redis: url('/1') })
    const second = await createRedisson({ redis: url('/2') })
    const name = uniqueName()
    const held = await first.getLock(name).acquire()
    expect(await second.getLock(name).tryLock()).to.equal(true)
    await held.unlock()
    expect(await second.getLock(name).isHeldByCurrentThread()).to.equal(false)
    expect(await second.getLock(name).isLocked()).to.equal(true)
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
    expect(await holder.getLock(uniqueName()).tryLock(5_000)).to.equal(true)
  })

  it('Redis may be given as an address that may not ask for INFO', async () => {
    const admin = new Redis(server.url)
    await admin.call('ACL', 'SETUSER', 'bob', 'on', '>builder', '~*', '&*', '+@all', '-info')
    admin.disconnect()
    const bob = await createRedisson({ redis: { ...plain(), username: 'bob', password: 'builder' } })
    await provesLocking(bob, await createRedisson({ redis: url() }), through(await openRedis(url())))
  })
})
