import { expect } from 'chai'
import type { Cluster, Redis } from 'ioredis'
import type { RedisCredentials, RedissonOptions } from '../../src/index'
import { Redisson } from '../../src/redisson'
import { createRedisson, openRedis, rejection, uniqueName } from '../kit/clients'
import { internalsOf } from '../kit/internals'
import { eventsOf } from '../kit/observing'
import {
  type Address,
  freshCluster,
  freshSentinel,
  ownServer,
  waitUntil,
  withClient,
} from '../kit/servers/index'
import { asleep } from '../kit/sleepers'

const USER = 'user app on >password-0 ~* &* +@all'
const WATCHDOG = 3_000

/** Gives the servers a new password for the user, and ends its connections, as a service does whose tokens expire. */
async function rotate(nodes: readonly Address[], password: string): Promise<void> {
  for (const node of nodes)
    await withClient(node, async (admin) => {
      await admin.call('ACL', 'SETUSER', 'app', 'resetpass', `>${password}`)
      await admin.call('CLIENT', 'KILL', 'USER', 'app')
    })
}

/** How many connections of the user there are. */
async function connectionsOf(nodes: readonly Address[]): Promise<number> {
  const lists = await Promise.all(nodes.map((node) => withClient(node, (admin) => admin.client('LIST'))))
  return String(lists)
    .split('\n')
    .filter((line) => line.includes(' user=app ')).length
}

/** Holds locks and lets another client wait, while the password is replaced twice. */
async function throughTwoPasswords(
  redis: RedissonOptions['redis'],
  nodes: readonly Address[],
): Promise<void> {
  let password = 'password-0'
  let asked = 0
  const credentials = async (): Promise<RedisCredentials> => {
    asked++
    return { username: 'app', password }
  }
  const [holder, other] = [
    await createRedisson({ redis, credentials, lockWatchdogTimeout: WATCHDOG }),
    await createRedisson({ redis, credentials, lockWatchdogTimeout: WATCHDOG }),
  ]
  const lost = eventsOf(holder, 'lockLost')
  const names = Array.from({ length: 6 }, () => uniqueName())
  const holds = await Promise.all(names.map((name) => holder.getLock(name).acquire()))
  const waiting = other.getLock(names[0]!).acquire()
  await waitUntil('it waits', () => other.stats().waiting === 1 && other.stats().channels === 1)
  for (const next of ['password-1', 'password-2']) {
    password = next
    const before = asked
    await rotate(nodes, next)
    await waitUntil('both clients have logged in again', () => asked > before + 1)
    const another = await holder.getLock(uniqueName()).acquire()
    await another.unlock()
  }
  const ends = performance.now() + WATCHDOG
  await waitUntil('every lease was renewed since', () => performance.now() > ends)
  expect(lost).to.deep.equal([])
  expect(holds.every((hold) => hold.isHeld)).to.equal(true)
  await waitUntil('the waiter is subscribed again', async () => (await connectionsOf(nodes)) >= 4)
  for (const hold of holds) await hold.unlock()
  await (await waiting).unlock()
}

describe('Credentials that a function returns', () => {
  const server = ownServer({ config: [USER] })

  const address = () => ({ host: server.host, port: server.port })
  const reset = () => rotate([server], 'password-0')

  it('Locks stay held while the password is replaced twice, on a single server', async () => {
    await reset()
    await throughTwoPasswords(address(), [server])
  })

  it('A function that is late with the new password loses no call', async () => {
    await reset()
    let password = 'password-0'
    const redisson = await createRedisson({
      redis: address(),
      credentials: () => ({ username: 'app', password }),
      lockWatchdogTimeout: 6_000,
    })
    const hold = await redisson.getLock(uniqueName()).acquire()
    const refused = new Promise<Error>((resolve) => redisson.once('error', resolve))
    await rotate([server], 'password-1')
    const acquiring = redisson.getLock(uniqueName()).acquire()
    expect((await refused).message)
      .to.contain('WRONGPASS')
      .and.not.contain('password-')
    password = 'password-1'
    await (await acquiring).unlock()
    expect(hold.isHeld).to.equal(true)
    await hold.unlock()
  })

  it('A connection on which the server answers NOAUTH is opened again, and the call succeeds', async () => {
    await rotate([server], 'password-0')
    await withClient(server, (admin) => admin.call('ACL', 'SETUSER', 'default', 'off'))
    try {
      const credentials = () => ({ username: 'app', password: 'password-0' })
      const redisson = await createRedisson({ redis: address(), credentials })
      const { transport } = internalsOf(redisson).connections as unknown as {
        transport: { redis: Redis }
      }
      // A real server answers NOAUTH from now on.
      await transport.redis.call('RESET')
      await redisson.getLock(uniqueName()).withLock(() => {})
    } finally {
      const app = await openRedis(`redis://app:password-0@${server.host}:${server.port}`)
      await app.call('ACL', 'SETUSER', 'default', 'on')
    }
  })

  it('create() rejects if the function fails, has no answer or returns something else', async () => {
    const failing: [() => unknown, RegExp][] = [
      [() => Promise.reject(new Error('no token')), /credentials function failed: no token/],
      [() => new Promise(() => {}), /credentials function failed: no answer within 300 ms/],
      [() => 'password-0', /must return \{ username, password \}/],
      [() => ({ username: 'app' }), /must return \{ username, password \}/],
    ]
    for (const [credentials, message] of failing) {
      const options = { redis: { ...address(), connectTimeout: 300 }, credentials } as RedissonOptions
      const error = await rejection(Redisson.create(options))
      expect(error).to.include({ code: 'REDIS_UNAVAILABLE' })
      expect(error.message).to.match(message).and.contain(`${server.port}`)
    }
    expect(
      await rejection(Redisson.create({ redis: address(), credentials: 'x' as never })),
    ).to.be.instanceOf(TypeError)
  })

  it('A function that fails for a while is asked about once a second, and calls go on afterwards', async () => {
    await reset()
    let isFailing = false
    let asked = 0
    const credentials = () => {
      asked++
      if (isFailing) throw new Error('the token service is away')
      return { username: 'app', password: 'password-0' }
    }
    const redisson = await createRedisson({ redis: address(), credentials })
    isFailing = true
    const before = asked
    const failed = new Promise<Error>((resolve) => redisson.once('error', resolve))
    await rotate([server], 'password-0')
    expect((await failed).message).to.contain('the token service is away')
    const acquiring = redisson.getLock(uniqueName()).acquire()
    await waitUntil('it asks again', () => asked >= before + 3)
    isFailing = false
    await (await acquiring).unlock()
    expect(asked).to.be.below(before + 10)
  })
})

describe('Credentials that a function returns, behind sentinels and in a cluster', () => {
  it('Locks stay held while the password is replaced twice, behind sentinels', async () => {
    const setup = await freshSentinel({ config: [USER] })
    const sentinels = setup.sentinels.map(({ host, port }) => ({ host, port }))
    await throughTwoPasswords({ sentinels, name: setup.name }, setup.nodes)
  })

  it('Locks stay held while the password is replaced twice, in a cluster', async () => {
    const setup = await freshCluster({ config: [USER] })
    const nodes = setup.nodes.map(({ host, port }) => ({ host, port }))
    await throughTwoPasswords({ nodes }, setup.nodes)
  })

  it('A function that fails for the first subscription leaves no waiter deaf (V71)', async () => {
    const setup = await freshCluster({ config: [USER] })
    const nodes = setup.nodes.map(({ host, port }) => ({ host, port }))
    let isFailing = false
    let failures = 0
    const credentials = () => {
      if (isFailing) {
        failures++
        throw new Error('the token service is away')
      }
      return { username: 'app', password: 'password-0' }
    }
    const holder = await createRedisson({ redis: { nodes }, credentials })
    const other = await createRedisson({ redis: { nodes }, credentials })
    const name = uniqueName()
    const hold = await holder.getLock(name).acquire()
    // Its connection for commands is open: only the subscription needs credentials from now on.
    expect(await other.getLock(name).tryLock()).to.equal(false)
    isFailing = true
    const waiting = other.getLock(name).acquire()
    await waitUntil('a connection has failed', () => failures > 0)
    isFailing = false
    await asleep(other, `lock ${name}`)
    await hold.unlock()
    await (await waiting).unlock()
  })

  it('A node of a cluster that answers NOAUTH gets a new connection', async () => {
    const setup = await freshCluster({ config: [USER] })
    const nodes = setup.nodes.map(({ host, port }) => ({ host, port }))
    const credentials = () => ({ username: 'app', password: 'password-0' })
    const redisson = await createRedisson({ redis: { nodes }, credentials })
    const names = Array.from({ length: 12 }, () => uniqueName())
    const lockAll = () => Promise.all(names.map((name) => redisson.getLock(name).withLock(() => {})))
    await lockAll()
    for (const node of setup.nodes)
      await withClient(node, (admin) => admin.call('ACL', 'SETUSER', 'default', 'resetpass', '>other'))
    const { transport } = internalsOf(redisson).connections as unknown as {
      transport: { redis: Cluster }
    }
    for (const node of transport.redis.nodes('master')) await node.call('RESET')
    await lockAll()
  })
})
