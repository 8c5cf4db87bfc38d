import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { createRedisson, openRedis, uniqueName } from '../../../test/kit/clients'
import { freshName, name } from '../../../test/kit/each-test'
import { openProxy } from '../../../test/kit/proxies'
import { sharedCluster, startStandalone, waitUntil, withClient } from '../../../test/kit/servers/index'
import { asTable } from '../src/commands/ls'
import type { Row } from '../src/model'
import { Screen } from '../src/terminal'
import { answerInspectors, rlock, start } from './cli'

const JAVA = '0b6d2a3e-1111-4222-8333-944444444444'

describe('rlock ls', function () {
  freshName()

  this.timeout(60_000)
  let url: string
  let stop: () => Promise<unknown>

  before(async () => {
    const server = await startStandalone()
    url = server.url
    stop = () => server.stop()
  })
  after(() => stop())
  afterEach(async () => (await openRedis(url)).flushall())

  const ls = (...args: string[]) => rlock(['ls', '--redis', url, '--json', ...args])

  it('rlock ls shows a lock of Java with its owner, count and TTL, and what is not known as null', async () => {
    const redis = await openRedis(url)
    await redis.hset(name, `${JAVA}:42`, 2)
    await redis.pexpire(name, 20_000)
    const { json, code } = await ls()
    expect(code).to.equal(0)
    const [{ ttl, holders, ...row }] = json
    expect(json).to.have.lengthOf(1)
    expect(row).to.deep.equal({
      name,
      kind: 'lock',
      mode: null,
      moreHolders: 0,
      waiting: { processes: 0, callers: null, queue: null },
      value: null,
    })
    expect(ttl).to.be.within(1, 20_000)
    expect(holders).to.deep.equal([
      {
        owner: `${JAVA}:42`,
        clientId: JAVA,
        threadId: 42,
        count: 2,
        ttl,
        host: null,
        process: null,
        label: null,
        heldFor: null,
        maxHoldTime: null,
      },
    ])
  })

  it('rlock ls counts one caller and one process in the singular', () => {
    const waiting = { processes: 1, callers: 1, queue: 0 }
    const row: Row = {
      ...{ name: 'a', kind: 'lock', mode: null, ttl: 1, holders: [], moreHolders: 0, waiting, value: null },
    }
    const lines = (of: Row['waiting']) => asTable([{ ...row, waiting: of }], new Screen(undefined, {}))
    expect(lines(waiting)).to.contain('1 caller, 1 process').and.not.contain('callers')
    expect(lines({ processes: 2, callers: 3, queue: 1 })).to.contain('3 callers, 2 processes, 1 queued')
  })

  it('rlock ls tells the kinds of locks and synchronizers apart, as far as their keys do', async () => {
    const client = await createRedisson({ redis: url })
    await client.getLock('k:lock').lock()
    await client.getFencedLock('k:fenced').lock()
    await client.getReadWriteLock('k:rw').readLock().lock()
    const semaphore = client.getPermitExpirableSemaphore('k:permits')
    await semaphore.trySetPermits(3)
    const permit = await semaphore.acquire()
    await client.getCountDownLatch('k:latch').trySetCount(2)
    await client.getSemaphore('k:semaphore').trySetPermits(5)
    const { json } = await ls('k:*')
    expect(json.map(({ name, kind, mode, value }) => [name, kind, mode, value])).to.deep.equal([
      ['k:fenced', 'fenced', null, null],
      ['k:latch', 'semaphore-or-latch', null, 2],
      ['k:lock', 'lock', null, null],
      ['k:permits', 'permit-expirable-semaphore', null, 2],
      ['k:rw', 'read-write', 'read', null],
      ['k:semaphore', 'semaphore-or-latch', null, 5],
    ])
    expect(json[3].holders.map(({ owner }: { owner: string }) => owner)).to.deep.equal([`permit:${permit}`])
    const said = await ls('k:semaphore', '--kind', 'semaphore')
    expect(said.json[0].kind).to.equal('semaphore')
    await semaphore.release(permit!)
  })

  it('rlock ls shows the host of a holder, and how many processes listen', async () => {
    const holder = await createRedisson({ redis: url })
    const waiter = await createRedisson({ redis: url })
    const hold = await holder.getLock(name).acquire()
    const waiting = waiter.getLock(name).acquire()
    await waitUntil('the waiter listens', async () => (await ls()).json[0]?.waiting.processes === 1)
    const [{ holders }] = (await ls()).json
    expect(holders[0].host).to.match(/^[\d.:a-f]+$/)
    await hold.unlock()
    await (await waiting).unlock()
  })

  it('rlock ls shows the places of a fair lock', async () => {
    const client = await createRedisson({ redis: url })
    const hold = await client.getFairLock(name).acquire()
    const waiting = client.getFairLock(name).acquire()
    await waitUntil('the place is taken', async () => (await ls()).json[0]?.waiting.queue === 1)
    expect((await ls()).json[0].kind).to.equal('fair')
    await hold.unlock()
    await (await waiting).unlock()
  })

  it('rlock ls shows a token lock without its token', async () => {
    const redis = await openRedis(url)
    await redis.set(name, 'the-secret-token', 'PX', 20_000)
    const { json, out } = await ls(name, '--kind', 'token')
    expect(json[0].holders[0].owner).to.match(/^sha1:[0-9a-f]{40}$/)
    expect(out).to.not.contain('the-secret-token')
  })

  it('rlock ls leaves out foreign hashes, numbers and strings, and --held what nothing holds', async () => {
    const redis = await openRedis(url)
    await redis.hset('user:1', { name: 'a', mode: 'dark' })
    await redis.hset('user:2', { [`${JAVA}:42`]: 'no count' })
    await redis.set('counter', 7)
    await redis.set('session', 'x', 'EX', 60)
    expect((await ls()).json).to.deep.equal([])
    expect((await ls('--all')).json.map(({ name, kind }) => [name, kind])).to.deep.equal([
      ['counter', 'semaphore-or-latch'],
    ])
    expect((await ls('--all', '--held')).json).to.deep.equal([])
    // No permits that are free.
    expect((await rlock(['ls', '--all', '--redis', url])).out).to.match(
      /counter +semaphore-or-latch +number 7/,
    )
  })

  it('rlock ls --longer-than shows what is held for longer, as far as a process says so', async () => {
    const client = await createRedisson({ redis: url })
    const redis = await openRedis(url)
    const [old, young, java] = [uniqueName(), uniqueName(), uniqueName()]
    const first = await client.getLock(old).acquire()
    await redis.hset(java, `${JAVA}:1`, 1)
    await sleep(1_500)
    const second = await client.getLock(young).acquire()
    const named = async (...args: string[]) => (await ls(...args)).json.map(({ name }) => name)
    expect(await named('--longer-than', '1000ms'))
      .to.include(old)
      .and.not.include(java)
    expect(await named('--longer-than', '5m')).to.deep.equal([])
    expect((await ls('--longer-than', 'soon')).code).to.equal(2)
    await Promise.all([first.unlock(), second.unlock()])
  })

  it('rlock ls asks about 3,000 free semaphores in a few round trips', async () => {
    const listener = await openRedis(url)
    const names = Array.from({ length: 3_000 }, (_, at) => `free:${at}`)
    await listener.subscribe(...names.map((name) => `redisson_sc:{${name}}`))
    const { hostname, port } = new URL(url)
    const proxy = await openProxy({ host: hostname, port: Number(port) })
    proxy.delay(20)
    const began = performance.now()
    const { json } = await rlock(['ls', '--redis', `redis://${proxy.host}:${proxy.port}`, '--json'])
    expect(json.map(({ name, kind }) => [name, kind])).to.deep.equal(
      names.sort().map((name) => [name, 'semaphore']),
    )
    // One after the other they would take four minutes.
    expect(performance.now() - began).to.be.below(40_000)
  })

  it('rlock ls lists no lock and no permit that a process claims and Redis does not have', async () => {
    const hold = { name: 'claimed', heldFor: 5, owner: `${JAVA}:1` }
    const kinds = ['lock', 'read', 'token', 'permit', 'latch']
    const holds = kinds.map((kind) => ({ ...hold, key: `claimed:${kind}`, kind }))
    const answer = { v: 1, client: JAVA, label: 'liar', host: 'h', pid: 1, holds, waits: [], cut: false }
    await answerInspectors(url, () => [[JSON.stringify(answer)]])
    const waiter = await createRedisson({ redis: url })
    const waiting = waiter.getTokenLock('claimed:token')
    expect((await ls('--all')).json).to.deep.equal([])
    expect((await rlock(['show', 'claimed:lock', '--redis', url])).code).to.equal(1)
    // A free token lock with a waiter has no key either, and the server knows the waiter.
    const held = await waiting.acquire()
    const next = waiting.acquire()
    await waitUntil('it waits', async () => (await ls()).json[0]?.waiting.processes === 1)
    await held.unlock()
    await (await next).unlock()
  })

  it('rlock ls shows the maxHoldTime of a hold and of a permit where their process answers', async () => {
    const client = await createRedisson({ redis: url, maxHoldTime: 90_000 })
    const semaphore = client.getPermitExpirableSemaphore(uniqueName())
    await semaphore.trySetPermits(1)
    const [hold, permit] = [await client.getLock(uniqueName()).acquire(), await semaphore.acquirePermit()]
    const { json } = await ls()
    expect(json.map(({ holders }) => holders[0].maxHoldTime)).to.deep.equal([90_000, 90_000])
    expect((await rlock(['ls', '--redis', url])).out).to.match(/ of 1m ?30s/)
    await Promise.all([hold.unlock(), permit.release()])
  })

  it('rlock ls shows the process of a permit, and since when it is out', async () => {
    const client = await createRedisson({ redis: url, label: 'worker 7' })
    const semaphore = client.getPermitExpirableSemaphore(uniqueName())
    await semaphore.trySetPermits(2)
    const permit = await semaphore.acquirePermit()
    const [{ holders }] = (await ls()).json
    expect(holders).to.have.lengthOf(1)
    expect(holders[0]).to.include({ owner: `permit:${permit.id}`, label: 'worker 7' })
    expect(holders[0].host).to.be.a('string')
    expect(holders[0].heldFor).to.be.within(0, 30_000)
    await permit.release()
  })

  it('rlock ls --watch shows what changes until it is interrupted', async () => {
    const redis = await openRedis(url)
    const run = await start(['ls', '--redis', url, '--watch'])
    await waitUntil('the first table', () => run.out.includes('no locks found'))
    await redis.hset(name, `${JAVA}:1`, 1)
    await waitUntil('the lock is shown', () => run.out.includes(name))
    expect((await run.interrupt()).code).to.equal(0)
  })

  it('rlock ls says what a user without rights cannot see', async () => {
    const redis = await openRedis(url)
    await redis.hset(name, `${JAVA}:1`, 1)
    await redis.call(
      'ACL',
      'SETUSER',
      'reader',
      'on',
      '>reader-pw',
      '~*',
      '+@read',
      '+@connection',
      '-client',
      '+client|setname',
      '+client|id',
      '+info',
    )
    const { json, err, code } = await rlock(['ls', '--redis', url, '--user', 'reader', '--json'], {
      REDISCLI_AUTH: 'reader-pw',
    })
    expect(code, err).to.equal(0)
    expect(json[0].name).to.equal(name)
    expect(json[0].waiting.processes).to.equal(null)
    expect(err).to.contain('hosts: the right to CLIENT LIST').and.to.contain('PUBSUB')
    expect(err).to.not.contain('reader-pw')
  })

  it('rlock ls ends with 69 without a server, with 2 for wrong usage, shows no credential', async () => {
    const away = await rlock(['ls', '--redis', 'redis://someone:hush-hush@127.0.0.1:1'])
    expect([away.code, away.err.includes('hush-hush')]).to.deep.equal([69, false])
    expect((await rlock(['ls', '--redis', 'http://user:hush-hush@h'])).err).to.not.contain('hush-hush')
    for (const args of [
      ['ls', '--nonsense'],
      ['ls', 'a', 'b'],
      ['nonsense'],
      [],
      ['ls', '--longer-than', '5'],
    ])
      expect((await rlock(args)).code, args.join(' ')).to.equal(2)
  })

  it('rlock ls reads 1,000,000 foreign keys in slices of less than 5 ms on the server', async () => {
    const redis = await openRedis(url)
    await redis.hset(name, `${JAVA}:1`, 1)
    for (let at = 0; at < 1_000_000; at += 10_000)
      await redis.mset(...[...Array(10_000).keys()].flatMap((key) => [`foreign:${at + key}`, key]))
    await redis.config('RESETSTAT')
    expect((await ls()).json.map((row) => row.name)).to.deep.equal([name])
    // Of each command, and not of the slowest: the machine may stop the server in the middle of one.
    const stats = await redis.info('commandstats')
    const [, calls, each] = /cmdstat_scan:calls=(\d+),.*?usec_per_call=([\d.]+)/.exec(stats)!
    expect(Number(calls)).to.be.at.least(2_000)
    expect(Number(each)).to.be.below(5_000)
    expect(stats).to.not.contain('cmdstat_keys:')
  })
})

describe('rlock ls with a cluster', function () {
  this.timeout(60_000)

  it('rlock ls finds the locks of every primary of a cluster', async () => {
    const { nodes } = await sharedCluster()
    const urls = nodes.map(({ host, port }) => `redis://${host}:${port}`)
    const client = await createRedisson({ redis: { nodes: urls } })
    const prefix = uniqueName()
    const holds = await Promise.all(
      [...Array(12).keys()].map((at) => client.getLock(`${prefix}:${at}`).acquire()),
    )
    const { json } = await rlock(['ls', `${prefix}:*`, '--redis', urls[0]!, '--cluster', '--json'])
    expect(json.map(({ name }) => name)).to.deep.equal(holds.map(({ lockName }) => lockName).sort())
    expect(json.every(({ holders }) => holders[0].host !== null)).to.equal(true)
    await Promise.all(holds.map((hold) => hold.unlock()))
  })

  it('rlock ls reads a cluster by CLUSTERSCAN where the server has it (Valkey 9.1)', async function () {
    const { nodes } = await sharedCluster()
    const infos = () =>
      Promise.all(nodes.map((node) => withClient(node, (redis) => redis.info('commandstats'))))
    const has = await withClient(nodes[0]!, (redis) => redis.call('COMMAND', 'INFO', 'clusterscan'))
    if ((has as unknown[])[0] === null) {
      process.stderr.write(
        'Pending: rlock ls reads a cluster by CLUSTERSCAN (the server has no such command)\n',
      )
      this.skip()
    }
    for (const node of nodes) await withClient(node, (redis) => redis.config('RESETSTAT'))
    const urls = nodes.map(({ host, port }) => `redis://${host}:${port}`)
    const client = await createRedisson({ redis: { nodes: urls } })
    const prefix = uniqueName()
    const names = [...Array(60).keys()].map((at) => `${prefix}:${at}`)
    const holds = await Promise.all(names.map((name) => client.getLock(name).acquire()))
    const { json, err } = await rlock(['ls', `${prefix}:*`, '--redis', urls[0]!, '--cluster', '--json'])
    expect(
      json.map(({ name }) => name),
      err,
    ).to.deep.equal(names.sort())
    const stats = (await infos()).join()
    expect(stats).to.contain('cmdstat_clusterscan:').and.to.not.contain('cmdstat_scan:')
    await Promise.all(holds.map((hold) => hold.unlock()))
  })
})
