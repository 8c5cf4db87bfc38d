import { inspect } from 'node:util'
import { expect } from 'chai'
import { Redis } from 'ioredis'
import { Redisson, type RedissonOptions } from '../../src/index'
import { withoutSecrets } from '../../src/redis/reply/errors'
import { resolveTarget } from '../../src/redis/target/target'
import { createRedisson, rejection, uniqueName } from '../kit/clients'
import { printedInEachTest } from '../kit/printed'
import { openProxy } from '../kit/proxies'
import { freshServer, type Standalone, sharedSentinel, startStandalone } from '../kit/servers/index'

const PASSWORD = 'p@ss/w:rd%41?#'
// Servers quote what they do not understand, cut after 128 characters.
const LONG_PASSWORD = 'abcdefghij'.repeat(20)

/** Everything a logger could print of a thing. */
function allOf(thing: unknown): string {
  const { message, stack, cause } = (thing ?? {}) as Error
  return [
    String(thing),
    message,
    stack,
    inspect(cause, { depth: 10 }),
    inspect(thing, { depth: 10, showHidden: true }),
    json(thing),
  ].join('\n')
}

function json(thing: unknown): string {
  try {
    return JSON.stringify(thing) ?? ''
  } catch {
    return 'circular'
  }
}

function showsNone(thing: unknown, ...secrets: string[]) {
  const text = allOf(thing)
  for (const secret of secrets)
    for (const form of [secret, encodeURIComponent(secret), secret.slice(0, 30)])
      expect(text).not.to.contain(form)
}

// Row D7 of docs/internals/failure-modes.md.
describe('A password is shown nowhere (D7)', () => {
  let server: Standalone
  /** Knows neither HELLO nor AUTH by name, and so quotes what came with them. */
  let quoting: Standalone
  const printed = printedInEachTest(allOf)

  before(async () => {
    server = await startStandalone({
      requirepass: 'the right one',
      config: ['user alice on >the-right-one ~* &* +@all'],
    })
    quoting = await startStandalone({ config: ['rename-command HELLO ""', 'rename-command AUTH ""'] })
  })
  after(() => Promise.all([server.stop(), quoting.stop()]))

  const failing: [string, () => RedissonOptions['redis'] | Promise<RedissonOptions['redis']>][] = [
    ['in options', () => ({ host: server.host, port: server.port, password: PASSWORD })],
    ['in a URL', () => `redis://:${encodeURIComponent(PASSWORD)}@${server.host}:${server.port}`],
    [
      'of an ACL user, in a URL',
      () => `redis://alice:${encodeURIComponent(PASSWORD)}@${server.host}:${server.port}`,
    ],
    ['in a URL where nothing listens', () => `redis://:${encodeURIComponent(PASSWORD)}@127.0.0.1:1`],
    ["in a cluster node's URL", () => ({ nodes: [`redis://:${encodeURIComponent(PASSWORD)}@127.0.0.1:1`] })],
    [
      "in a cluster's options",
      () => ({
        nodes: [{ host: server.host, port: server.port }],
        options: { redisOptions: { username: 'alice', password: PASSWORD } },
      }),
    ],
    [
      'of the sentinels',
      async () => ({
        sentinels: [{ host: server.host, port: server.port }],
        name: 'm',
        sentinelUsername: 'alice',
        sentinelPassword: PASSWORD,
      }),
    ],
    [
      'that the server quotes',
      () => ({ host: quoting.host, port: quoting.port, password: PASSWORD, username: 'alice' }),
    ],
  ]
  for (const [what, source] of failing)
    it(`A password is not shown ${what}, when create fails`, async () => {
      const error = await rejection(Redisson.create({ redis: await source() }))
      showsNone(error, PASSWORD)
      showsNone(printed, PASSWORD)
      expect(error.message).to.match(/:\d+/)
    })

  it('A password too long for the server to quote in full is not shown', async () => {
    const { host, port } = quoting
    const error = await rejection(Redisson.create({ redis: { host, port, password: LONG_PASSWORD } }))
    showsNone(error, LONG_PASSWORD)
    showsNone(printed, LONG_PASSWORD)
    expect(error.message).to.contain('unknown command')
  })

  it('A password is not shown wherever it might turn up in a message of the server or of ioredis', () => {
    const { secrets } = resolveTarget({
      nodes: [`redis://alice:${encodeURIComponent(PASSWORD)}@host`],
      options: { redisOptions: { sentinelPassword: 'another' } },
    })
    const command = { name: 'hello', args: ['3', 'AUTH', 'alice', PASSWORD] }
    const error = Object.assign(new Error(`denied: ${PASSWORD}, ${PASSWORD}, another`), { command })
    const shown = withoutSecrets(error, secrets)
    expect(shown.message).to.equal('denied: ***, ***, ***')
    showsNone(shown, PASSWORD, 'another')
  })

  it('No event, rejection or warning shows a password that becomes wrong', async () => {
    const password = 'first-pa$$word'
    const own = await freshServer({ requirepass: password })
    const proxy = await openProxy(own)
    const redisson = await createRedisson(
      { redis: { host: proxy.host, port: proxy.port, password }, lockWatchdogTimeout: 900 },
      { unavailableAfter: 500 },
    )
    const reported: unknown[] = []
    const loginReported = new Promise<void>((resolve) =>
      redisson.on('error', (error) => {
        reported.push(error)
        if (error.message.includes('WRONGPASS')) resolve()
      }),
    )
    const lost = new Promise((resolve) => redisson.on('lockLost', resolve))
    redisson.on('renewalFailed', (event) => reported.push(event))
    const held = await redisson.getLock(uniqueName()).acquire()
    await own.restart({ keepData: true })
    const admin = new Redis(own.url)
    await admin.config('SET', 'requirepass', 'another')
    admin.disconnect()
    proxy.cut()
    await loginReported
    const error = await rejection(redisson.getLock(uniqueName()).tryLock())
    expect(error.code).to.equal('REDIS_REFUSED')
    reported.push(error, await lost, await rejection(held.unlock()))
    for (const each of reported) showsNone(each, password)
    showsNone(printed, password)
  })

  it('A password is not shown by a client, a lock or a hold that is logged', async () => {
    const url = new URL(server.url)
    const redisson = await createRedisson({ redis: url.href })
    const lock = redisson.getLock(uniqueName())
    const held = await lock.acquire()
    for (const each of [redisson, lock, held]) {
      const shown = `${inspect(each, { depth: 10, showHidden: true })} ${json(each)}`
      expect(shown).not.to.contain('the right one').and.not.to.contain(encodeURIComponent('the right one'))
    }
    await held.unlock()
  })

  it('A password is not shown by sentinels that a client works with', async () => {
    const { sentinels, name } = await sharedSentinel()
    const addresses = sentinels.map(({ host, port }) => ({ host, port }))
    const redisson = await createRedisson({
      redis: { sentinels: addresses, name, sentinelPassword: PASSWORD, password: PASSWORD },
    })
    expect(await redisson.getLock(uniqueName()).tryLock()).to.equal(true)
    showsNone(printed, PASSWORD)
    showsNone(inspect(redisson, { depth: 10 }), PASSWORD)
  })
})
