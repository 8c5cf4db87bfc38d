import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect } from 'chai'
import { createRedisson, openRedis, rejection, timed, uniqueName } from '../test/kit/clients'
import { textOf } from '../test/kit/docs/pages'
import { describeWithJava, REDISSON_VERSIONS } from '../test/kit/java'
import { javaCommand } from '../test/kit/java/availability'
import { buildPeer } from '../test/kit/java/build'
import { sharedStandalone } from '../test/kit/servers/index'

const VERSION = REDISSON_VERSIONS.newest
const LEASE = 3_000

/** What is woken by a message comes at once; what is not sleeps until the lease that it saw has ended. */
const AT_ONCE = 1_000

/** What docs/migration/java-redisson.md says of each kind beside our `getLock`. */
const KINDS = {
  getLock: { wakesUs: true, isWoken: true },
  getNonReentrantLock: { wakesUs: true, isWoken: true },
  getMultiLock: { wakesUs: true, isWoken: true },
  getFencedLock: { wakesUs: true, isWoken: true },
  getFairLock: { wakesUs: false, isWoken: false },
  // It polls.
  getSpinLock: { wakesUs: false, isWoken: true },
} as const

describeWithJava("Java's kinds of locks beside getLock() of ours", () => {
  let java: ChildProcessWithoutNullStreams
  let lines: AsyncIterator<string>

  before(async () => {
    const [{ classpath }, { host, port }] = [await buildPeer(VERSION), await sharedStandalone()]
    const program = join(__dirname, 'support/Kinds.java')
    const of = ['-cp', classpath, program, `redis://${host}:${port}`, String(LEASE)]
    java = spawn(javaCommand('java'), of, { stdio: ['pipe', 'pipe', 'pipe'] })
    java.stderr.resume()
    lines = createInterface(java.stdout)[Symbol.asyncIterator]()
    expect((await lines.next()).value).to.equal('ready')
  })
  after(async () => {
    java.stdin.end()
    if (java.exitCode === null) await once(java, 'exit')
  })

  async function tell(...words: string[]): Promise<void> {
    java.stdin.write(`${words.join(' ')}\n`)
    expect((await lines.next()).value).to.equal(`${words[0]}ed`)
  }

  const ours = () => createRedisson({ lockWatchdogTimeout: LEASE })

  for (const [kind, { wakesUs, isWoken }] of Object.entries(KINDS)) {
    it(`Java's ${kind}() excludes ours, and its release ${wakesUs ? 'wakes us' : 'wakes us only when its lease ends'}`, async () => {
      const name = uniqueName()
      const lock = (await ours()).getLock(name)
      await tell('lock', kind, name)
      expect(await lock.tryLock()).to.equal(false)
      const waiting = lock.acquire()
      await new Promise((resolve) => setTimeout(resolve, 300))
      await tell('unlock')
      const waited = await timed(() => waiting)
      if (wakesUs) expect(waited).to.be.below(AT_ONCE)
      else expect(waited).to.be.above(AT_ONCE)
      await (await waiting).unlock()
    })

    it(`Java's ${kind}() is excluded by ours, and our release ${isWoken ? 'lets it in' : 'lets it in only when the lease it saw ends'}`, async () => {
      const name = uniqueName()
      const hold = await (await ours()).getLock(name).acquire()
      const entering = tell('lock', kind, name)
      await new Promise((resolve) => setTimeout(resolve, 300))
      expect(hold.isHeld).to.equal(true)
      await hold.unlock()
      const waited = await timed(() => entering)
      if (isWoken) expect(waited).to.be.below(AT_ONCE)
      else expect(waited).to.be.above(AT_ONCE)
      await tell('unlock')
    })
  }

  it("Java's getFencedLock() draws a token, and getLock() of ours none", async () => {
    const [name, redis] = [uniqueName(), await openRedis()]
    await (await ours()).getLock(name).withLock(() => {})
    expect(await redis.get(`redisson_lock_token:{${name}}`)).to.equal(null)
    await tell('lock', 'getFencedLock', name)
    await tell('unlock')
    expect(await redis.get(`redisson_lock_token:{${name}}`)).to.equal('1')
  })

  it('getMultiLock(group, values) of Java does not meet our getLock(): WrongTypeError here', async () => {
    const [name, client, redis] = [uniqueName(), await ours(), await openRedis()]
    await tell('lock', 'getMultiLock(group)', name)
    expect(await rejection(client.getLock(name).tryLock())).to.have.property('code', 'WRONG_TYPE')
    await tell('unlock')
    const hold = await client.getLock(name).acquire()
    await tell('lock', 'getMultiLock(group)', name)
    expect(hold.isHeld).to.equal(true)
    const byClock = Object.entries(await redis.hgetall(name)).filter(([field]) =>
      field.endsWith(':expire_time'),
    )
    expect(byClock.map(([, until]) => Number(until) - Date.now())[0]).to.be.within(1, LEASE)
    await redis.del(name)
  })

  it('getReadWriteLock() of Java does not meet our getLock(): WrongTypeError here', async () => {
    const [name, client] = [uniqueName(), await ours()]
    await tell('lock', 'getWriteLock', name)
    expect(await rejection(client.getLock(name).tryLock())).to.have.property('code', 'WRONG_TYPE')
    await tell('unlock')
    const hold = await client.getLock(name).acquire()
    await tell('lock', 'getWriteLock', name)
    expect(hold.isHeld).to.equal(true)
    await hold.unlock()
    await client.getReadWriteLock(name).writeLock().forceUnlock()
  })

  it("Java's kinds of locks are all in the table of docs/migration/java-redisson.md", () => {
    const [, table] = textOf('docs/migration/java-redisson.md').split('## Which locks meet')
    for (const kind of Object.keys(KINDS)) expect(table).to.match(new RegExp(`^\\| .*\`${kind}\\b`, 'm'))
  })
}, [VERSION])
