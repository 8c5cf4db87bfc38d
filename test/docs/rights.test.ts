import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { createRedisson } from '../kit/clients'
import { examples } from '../kit/docs/pages'
import { redis, redisAndName } from '../kit/each-test'
import { eventsOf } from '../kit/observing'
import { freshCluster, freshSentinel, ownServer, withClient } from '../kit/servers/index'

/** The user of docs/operations/security.md, who has these rights and no others. */
const LUA = join(__dirname, '../../lua')
const [RIGHTS, IN_A_CLUSTER, OF_SENTINELS, TO_LOOK, TO_FREE] = examples('acl').map(({ code }) =>
  code.split(/\s+/),
) as [string[], string[], string[], string[], string[]]

describe('The rights that docs/operations/security.md lists', () => {
  const server = ownServer()

  redisAndName('test', { server })
  beforeEach(async () => {
    await redis.call('ACL', 'SETUSER', 'rlock', 'reset', 'on', '>secret', ...RIGHTS)
    // Of 7.2 and later.
    await redis.call('ACL', 'SETUSER', 'rlock', '+client|setinfo').catch(() => {})
    await redis.call('ACL', 'LOG', 'RESET')
  })

  const client = () =>
    createRedisson({
      redis: server.url.replace('redis://', 'redis://rlock:secret@'),
      lockWatchdogTimeout: 600,
    })

  /** What the server refused, as `command or key, of what kind`. */
  async function refused(): Promise<string[]> {
    const log = (await redis.call('ACL', 'LOG')) as unknown[][]
    return log.map((fields) => `${fields[7]}, a ${fields[3]}`)
  }

  it('The listed rights are enough for locks that wait, renew, re-enter and are forced', async () => {
    const [one, other] = [await client(), await client()]
    const errors: Error[] = []
    for (const each of [one, other]) each.on('error', (error) => errors.push(error))
    const pairs = (name: string) => [
      [one.getLock(name), other.getLock(name)] as const,
      [
        one.getReadWriteLock(`${name}:rw`).writeLock(),
        other.getReadWriteLock(`${name}:rw`).readLock(),
      ] as const,
      [
        one.getReadWriteLock(`${name}:wr`).readLock(),
        other.getReadWriteLock(`${name}:wr`).writeLock(),
      ] as const,
      [one.getFencedLock(`${name}:f`), other.getFencedLock(`${name}:f`)] as const,
    ]
    for (const [first, second] of pairs('lock:order')) {
      await one.run(async () => {
        await first.lock()
        await first.lock()
        const waiting = second.acquire()
        // Longer than a renewal.
        await new Promise((resolve) => setTimeout(resolve, 400))
        await first.unlock()
        await first.unlock()
        await (await waiting).unlock()
      })
      await first.acquire()
      // The other side of a read-write lock is not its own.
      expect(await second.forceUnlock()).to.equal(!/:(rw|wr)$/.test(first.getName()))
      await first.forceUnlock()
      expect(await first.isLocked()).to.equal(false)
    }
    const latch = one.getCountDownLatch('lock:latch')
    await latch.trySetCount(1)
    const opened = other.getCountDownLatch('lock:latch').await()
    await latch.countDown()
    await opened
    expect(await refused()).to.deep.equal([])
    expect(errors).to.deep.equal([])
  })

  it('The listed rights are enough for names with braces, of every object (V18)', async () => {
    const [one, other] = [await client(), await client()]
    const errors: Error[] = []
    for (const each of [one, other]) each.on('error', (error) => errors.push(error))
    for (const name of ['lock:{a}:x', 'lock:x']) {
      const locks = [one, other].map((each) => [
        each.getLock(name),
        each.getFairLock(`${name}:fair`),
        each.getNonReentrantFairLock(`${name}:nfair`),
        each.getFencedLock(`${name}:fenced`),
        each.getNonReentrantLock(`${name}:once`),
        each.getSpinLock(`${name}:spin`),
        each.getReadWriteLock(`${name}:rw`).writeLock(),
        each.getTokenLock(`${name}:token`),
      ])
      for (const [at, lock] of locks[0]!.entries()) {
        const hold = await lock.acquire()
        const waiting = locks[1]![at]!.acquire()
        await new Promise((resolve) => setTimeout(resolve, 50))
        await hold.unlock()
        await (await waiting).unlock()
      }
      const read = await one.getReadWriteLock(`${name}:read`).readLock().acquire()
      const writing = other.getReadWriteLock(`${name}:read`).writeLock().acquire()
      await read.unlock()
      await (await writing).unlock()
      const semaphore = one.getSemaphore(`${name}:sem`)
      await semaphore.trySetPermits(1)
      await semaphore.acquire()
      const permitting = other.getSemaphore(`${name}:sem`).acquire()
      await semaphore.release()
      await permitting
      const expirable = one.getPermitExpirableSemaphore(`${name}:permits`)
      await expirable.trySetPermits(1)
      const permit = await expirable.acquirePermit()
      const next = other.getPermitExpirableSemaphore(`${name}:permits`).acquirePermit()
      await permit.release()
      await (await next).release()
      const latch = one.getCountDownLatch(`${name}:latch`)
      await latch.trySetCount(1)
      const opened = other.getCountDownLatch(`${name}:latch`).await()
      await latch.countDown()
      await opened
    }
    expect(await refused()).to.deep.equal([])
    expect(errors).to.deep.equal([])
  })

  it('The listed rights are enough in a cluster, with those that it lists for one', async () => {
    const user = ['user rlock on >secret', ...RIGHTS, ...IN_A_CLUSTER].join(' ')
    const cluster = await freshCluster({ config: [user] })
    const open = () =>
      createRedisson({
        redis: {
          nodes: cluster.nodes.map(({ host, port }) => ({ host, port })),
          options: { redisOptions: { username: 'rlock', password: 'secret' } },
        },
        lockWatchdogTimeout: 600,
      })
    const [one, other] = [await open(), await open()]
    const errors: Error[] = []
    for (const each of [one, other]) each.on('error', (error) => errors.push(error))
    for (const name of ['lock:a', 'lock:b', 'lock:c', 'lock:{d}:x']) {
      const hold = await one.getReadWriteLock(name).readLock().acquire()
      const waiting = other.getReadWriteLock(name).writeLock().acquire()
      await new Promise((resolve) => setTimeout(resolve, 300))
      await hold.unlock()
      await (await waiting).unlock()
    }
    for (const node of cluster.nodes)
      await withClient(node, async (at) => {
        const log = (await at.call('ACL', 'LOG')) as unknown[][]
        expect(log.map((fields) => fields[7])).to.deep.equal([])
      })
    expect(errors).to.deep.equal([])
  })

  it('The listed rights for sentinels are enough for a lock through them', async () => {
    const setup = await freshSentinel()
    const { sentinels, name } = setup
    for (const sentinel of sentinels)
      await withClient(sentinel, async (at) => {
        await at.call('ACL', 'SETUSER', 'finder', 'reset', 'on', '>secret', ...OF_SENTINELS)
        await at.call('ACL', 'LOG', 'RESET')
      })
    const one = await createRedisson({
      redis: {
        name,
        sentinels: sentinels.map(({ host, port }) => ({ host, port })),
        sentinelUsername: 'finder',
        sentinelPassword: 'secret',
      },
    })
    const errors = eventsOf(one, 'error')
    expect(await one.getLock('lock:a').withLock(() => 'inside')).to.equal('inside')
    for (const sentinel of sentinels)
      await withClient(sentinel, async (at) => {
        const log = (await at.call('ACL', 'LOG')) as unknown[][]
        expect(log.map((fields) => fields[5])).to.deep.equal([])
      })
    expect(errors).to.deep.equal([])
  })

  it('The listed rights for operators show a lock, and free it with those for that', async () => {
    await redis.call('ACL', 'SETUSER', 'operator', 'reset', 'on', '>secret', ...TO_LOOK)
    await (await client()).getLock('lock:42').lock()
    const commands = examples('sh')
      .filter(({ page, code }) => page === 'docs/operations/by-hand.md' && /^redis-cli\b/.test(code))
      .flatMap(({ code }) => [...code.matchAll(/^redis-cli (.+?)(?: +#.+)?$/gm)].map(([, words]) => words!))
    const run = (words: string) =>
      promisify(execFile)('sh', [
        '-c',
        `redis-cli -h ${server.host} -p ${server.port} --user operator --pass secret --no-auth-warning ${words.replaceAll('order:42', 'lock:42')}`,
      ]).then(({ stdout }) => stdout.trim())
    for (const words of commands)
      if (!words.startsWith('EVAL')) expect(await run(words), words).to.not.match(/NOPERM/)
      else expect(await run(words), words).to.match(/NOPERM/)
    await redis.call('ACL', 'SETUSER', 'operator', ...TO_FREE)
    const free = commands.find((words) => words.startsWith('EVAL'))!
    expect(await run(free)).to.equal('1')
  })

  it('The rights that docs/operations/security.md lists have every command that a script calls', () => {
    const scripts = readdirSync(LUA, { recursive: true, encoding: 'utf8' }).filter((file) =>
      file.endsWith('.lua'),
    )
    const called = scripts.flatMap((file) =>
      [...readFileSync(join(LUA, file), 'utf8').matchAll(/redis\.p?call\('(\w+)'/g)].map(
        ([, name]) => `+${name}`,
      ),
    )
    expect(called).to.include('+pexpire')
    expect([...new Set(called)].filter((right) => !RIGHTS.includes(right))).to.deep.equal([])
  })

  it('The rights that docs/operations/security.md lists do not reach other keys and channels', async () => {
    const one = await client()
    const error = await one
      .getLock('data:1')
      .tryLock()
      .catch((error) => error.code)
    expect(error).to.equal('REDIS_REFUSED')
  })
})
