import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import type Redis from 'ioredis'
import { openRedis } from '../test/kit/clients'
import { openUntilTheEnd } from '../test/kit/closing'
import {
  describeWithJava,
  JavaError,
  type JavaPeer,
  REDISSON_VERSIONS,
  startJavaPeer,
} from '../test/kit/java'
import { ownServer, type Standalone } from '../test/kit/servers/index'
import { failureOf } from './failure-of'
import { channelOf, untilWaiting } from './support/world'

let server: Standalone
let redis: Redis

const VERSIONS = [REDISSON_VERSIONS.oldest, REDISSON_VERSIONS.newest]

describeWithJava(
  'the Java peer',
  () => {
    openUntilTheEnd()
    server = ownServer()
    before(async () => {
      redis = await openRedis(server.url)
    })

    beforeEach(() => redis.flushall())

    for (const version of VERSIONS) describe(`with Redisson ${version}`, () => peerTests(version))
  },
  VERSIONS,
)

function peerTests(version: string): void {
  let peer: JavaPeer

  before(async () => {
    peer = await startJavaPeer({ version, redis: server.url, settings: { lockWatchdogTimeout: 3000 } })
  })

  after(() => peer.shutdown())

  it('The Java peer runs the version it was asked for', () => {
    expect(peer.version).to.equal(version)
    expect(peer.clientId).to.match(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
  })

  it('The Java peer hands a lock from one thread to the other', async () => {
    const [a, b] = [peer.thread('a'), peer.thread('b')]
    await a.lock('order')
    expect(await redis.hgetall('order')).to.deep.equal({ [await a.owner()]: '1' })
    expect(await redis.pttl('order')).to.be.within(2000, 3000)
    expect(await b.tryLock('order')).to.equal(false)
    expect(await b.tryLock('order', { waitTime: 50 })).to.equal(false)

    const waiting = b.lock('order', { leaseTime: 7000 })
    await sleep(100)
    await a.unlock('order')
    expect((await waiting).tookMs).to.be.within(90, 1000)
    expect(await redis.hgetall('order')).to.deep.equal({ [await b.owner()]: '1' })
    expect(await b.remainTimeToLive('order')).to.be.within(6000, 7000)
    await b.unlock('order')
    expect(await redis.exists('order')).to.equal(0)
  })

  it('The Java peer counts re-entries by thread', async () => {
    const [a, b] = [peer.thread('a'), peer.thread('b')]
    await a.lock('order')
    expect(await a.tryLock('order', { waitTime: 0, leaseTime: 5000 })).to.equal(true)
    expect(await a.getHoldCount('order')).to.equal(2)
    expect(await b.getHoldCount('order')).to.equal(0)
    expect(await a.isHeldByCurrentThread('order')).to.equal(true)
    expect(await b.isHeldByCurrentThread('order')).to.equal(false)
    expect(await b.isHeldByThread('order', await a.threadId())).to.equal(true)
    expect(await b.isLocked('order')).to.equal(true)
    await a.unlock('order')
    expect(await a.getHoldCount('order')).to.equal(1)
    expect(await b.forceUnlock('order')).to.equal(true)
    expect(await b.isLocked('order')).to.equal(false)
    expect(await a.getName('order')).to.equal('order')
  })

  it('The Java peer brings exceptions back by their class', async () => {
    await peer.thread('a').lock('order')
    const error = await failureOf(peer.thread('b').unlock('order'))
    expect(error).to.be.instanceOf(JavaError)
    expect(error).to.have.property('javaClass', 'java.lang.IllegalMonitorStateException')
    expect(error.message).to.contain(peer.clientId)
    await peer.thread('a').unlock('order')
  })

  it('The Java peer interrupts a thread that waits', async () => {
    const [a, b] = [peer.thread('a'), peer.thread('b')]
    expect(await b.interrupt()).to.equal(false)
    await a.lock('order')
    const waiting = failureOf(b.lockInterruptibly('order'))
    await untilWaiting(redis, channelOf('order'))
    // It asks once more before it sleeps; interrupted in between, it would say something else.
    await sleep(500)
    expect(await b.interrupt()).to.equal(true)
    expect(await waiting).to.have.property('javaClass', 'java.lang.InterruptedException')
    await a.unlock('order')
    expect(await b.tryLock('order')).to.equal(true)
    await b.unlock('order')
  })

  it('The Java peer has both sides of a read-write lock', async () => {
    const [a, b] = [peer.thread('a'), peer.thread('b')]
    await a.lock('doc', { type: 'read' })
    await b.lock('doc', { type: 'read' })
    expect(await redis.hget('doc', 'mode')).to.equal('read')
    expect(await b.tryLock('doc', { type: 'write' })).to.equal(false)
    await a.unlock('doc', { type: 'read' })
    await b.unlock('doc', { type: 'read' })
    expect(await b.tryLock('doc', { type: 'write' })).to.equal(true)
    expect(await redis.hgetall('doc')).to.deep.equal({ mode: 'write', [`${await b.owner()}:write`]: '1' })
    await b.unlock('doc', { type: 'write' })
  })

  it('The Java peer maps the names of locks, and only those', async () => {
    const settings = { namePrefix: 'app:' }
    await using mapped = await startJavaPeer({ version, redis: server.url, settings })
    await mapped.thread('a').lock('order')
    await mapped.contend('other', { sections: 1, counterKey: 'count' })
    expect(await redis.exists('app:order', 'count')).to.equal(2)
    expect(await redis.exists('order', 'app:count')).to.equal(0)
  })

  it('The Java peer contends by itself, and no holders overlap', async () => {
    const options = { threads: 3, sections: 20, counterKey: 'count', logStream: 'log' }
    const [report, other] = await Promise.all([
      peer.contend('order', { ...options, holdMs: [0, 3] }),
      peer.contend('order', { ...options, holdMs: 1 }),
    ])
    expect(report).to.include({ sections: 20, timeouts: 0, errorCount: 0 })
    expect(report.waitsMs).to.have.length(20)
    expect(report.max).to.equal(Math.max(...report.waitsMs))
    expect(other.errors).to.deep.equal([])
    expect(await redis.get('count')).to.equal('40')

    const entries = (await redis.xrange('log', '-', '+')).map(([, fields]) =>
      Object.fromEntries(pairs(fields)),
    )
    expect(entries).to.have.length(80)
    entries.forEach((entry, i) => {
      expect(entry.event).to.equal(i % 2 === 0 ? 'acquired' : 'released')
      if (i % 2 === 1) expect(entry.thread).to.equal(entries[i - 1]?.thread)
      expect(entry.who).to.equal('java')
    })
  })

  it('The Java peer contends on both sides of a read-write lock, and sees no half of a change', async () => {
    const options = { sections: 20, counterKey: 'count', twinKey: 'twin', logStream: 'log', holdMs: 1 }
    const reports = await Promise.all([
      peer.contend('doc', { ...options, type: 'write', threads: 2 }),
      peer.contend('doc', { ...options, type: 'read', threads: 3, pauseMs: [0, 5] }),
    ])
    for (const report of reports) expect(report).to.include({ sections: 20, errorCount: 0 })
    expect(await redis.mget('count', 'twin')).to.deep.equal(['20', '20'])

    const ends = (await redis.xrange('log', '-', '+'))
      .map(([, fields]) => Object.fromEntries(pairs(fields)))
      .filter(({ type, event }) => type === 'read' && event === 'released')
    expect(ends).to.have.length(20)
    for (const { first, second, threadId } of ends) {
      expect(first).to.equal(second).and.match(/^\d+$/)
      expect(threadId).to.match(/^\d+$/)
    }
  })

  it('The Java peer ends contention in time', async () => {
    const started = performance.now()
    const report = await peer.contend('order', { threads: 2, durationMs: 300, holdMs: 5 })
    expect(performance.now() - started).to.be.within(290, 2000)
    expect(report.sections).to.be.greaterThan(5)
  })

  it('The Java peer describes the interface', async () => {
    const methods = await peer.describe()
    const tryLocks = methods.filter(({ name }) => name === 'tryLock').map(({ parameters }) => parameters)
    expect(tryLocks).to.deep.include(['long', 'long', 'java.util.concurrent.TimeUnit'])
    expect(methods.map(({ name }) => name)).to.include.members([
      'lock',
      'lockAsync',
      'newCondition',
      'getName',
    ])
  })
}

function pairs(fields: string[]): [string, string][] {
  return fields.flatMap((field, i) => (i % 2 === 0 ? [[field, fields[i + 1] ?? ''] as [string, string]] : []))
}
