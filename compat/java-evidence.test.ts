import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import Redis from 'ioredis'
import {
  describeWithJava,
  type Evidence,
  type JavaPeer,
  REDISSON_VERSIONS,
  startJavaPeer,
} from '../test/kit/java'
import { type Standalone, startStandalone } from '../test/kit/servers/index'
import { waitUntil } from '../test/kit/servers/wait-until'

type Entry = Record<string, string>

const VERSIONS = [REDISSON_VERSIONS.oldest, REDISSON_VERSIONS.newest]

let locks: Standalone
let witness: Standalone
let redis: Redis
let seen: Redis
let evidence: Evidence

describeWithJava(
  'the evidence of the Java peer',
  () => {
    before(async () => {
      ;[locks, witness] = await Promise.all([startStandalone(), startStandalone()])
      redis = new Redis(locks.url)
      seen = new Redis(witness.url)
      evidence = { url: witness.url, stream: 'sections', worker: 'java-1', lock: 'order#1' }
    })

    after(async () => {
      redis.disconnect()
      seen.disconnect()
      await Promise.all([locks.stop(), witness.stop()])
    })

    beforeEach(() => Promise.all([redis.flushall(), seen.flushall()]))

    for (const version of VERSIONS) describe(`with Redisson ${version}`, () => evidenceTests(version))
  },
  VERSIONS,
)

function evidenceTests(version: string): void {
  let peer: JavaPeer

  before(async () => {
    peer = await startJavaPeer({ version, redis: locks.url, settings: { lockWatchdogTimeout: 3000 } })
  })

  after(() => peer.shutdown())

  afterEach(() => peer.stopContending())

  it('records each step of a turn on a server of its own', async () => {
    const before = microseconds()
    const report = await peer.contend('order', { threads: 2, sections: 20, holdMs: [0, 2], evidence })
    const after = microseconds()
    expect(report).to.deep.include({ sections: 20, timeouts: 0, errors: [] })
    expect(await redis.exists('sections')).to.equal(0)

    const all = await entries()
    for (const { w, l, s, t, lease, err } of all) {
      expect({ w, l, s }).to.deep.equal({ w: 'java-1', l: 'order#1', s: 'x' })
      expect([lease, err]).to.deep.equal([undefined, undefined])
      // The same clock as ours, unit and origin.
      expect(Number(t)).to.be.within(before, after)
      expect(t).to.match(/^\d+$/)
    }
    for (const turn of turnsOf(all)) {
      expect(turn.map(({ e }) => e)).to.deep.equal(['want', 'in', 'out', 'free'])
      expect(turn[3]).to.have.property('ok', '1')
      expect(turn.map(({ t }) => Number(t))).to.deep.equal(
        turn.map(({ t }) => Number(t)).sort((a, b) => a - b),
      )
    }
    const inside = all.filter(({ e }) => e === 'in' || e === 'out')
    inside.forEach(({ e, f }, i) => {
      expect(e).to.equal(i % 2 === 0 ? 'in' : 'out')
      if (e === 'out') expect(f).to.equal(inside[i - 1]?.f)
    })
    expect(new Set(all.map(({ f }) => f)).size).to.equal(2)
  })

  it('says of readers and writers which side they took', async () => {
    const options = { threads: 2, sections: 10, holdMs: 2, evidence }
    const reports = await Promise.all([
      peer.contend('doc', { ...options, type: 'read' }),
      peer.contend('doc', { ...options, type: 'write' }),
    ])
    for (const report of reports) expect(report).to.include({ sections: 10, errorCount: 0 })
    const outs = (await entries()).filter(({ e }) => e === 'out')
    expect(outs.map(({ s }) => s).sort()).to.deep.equal([...Array(10).fill('r'), ...Array(10).fill('w')])
  })

  it('stops after the present turns when asked to', async () => {
    const contending = [1, 2].map(() => peer.contend('order', { threads: 2, durationMs: 600_000, evidence }))
    await recorded(({ n }) => Number(n) > 5)
    await peer.stopContending()
    const reports = await Promise.all(contending)
    expect(reports.map(({ errors }) => errors)).to.deep.equal([[], []])
    const all = await entries()
    for (const turn of turnsOf(all)) expect(turn.at(-1)).to.have.property('e', 'free')
    expect((await peer.contend('order', { sections: 1, evidence })).sections).to.equal(1)
  })

  it('stops a contention that has not begun yet', async () => {
    const contending = peer.contend('order', { durationMs: 600_000, evidence })
    await peer.stopContending()
    expect(await contending).to.include({ errorCount: 0 })
  })

  const losses = [
    ['is gone', () => redis.del('order'), 'java.lang.IllegalMonitorStateException'],
    ['cannot be asked for', () => redis.set('order', 'no lock'), 'org.redisson.client.RedisException'],
  ] as const
  for (const [state, lose, javaClass] of losses) {
    it(`says that it lost a lock that ${state}`, async () => {
      const contending = peer.contend('order', { sections: 1, holdMs: 500, evidence })
      await recorded(({ e }) => e === 'in')
      await lose()
      expect(await contending).to.deep.include({ sections: 1, errors: [] })
      const [, , lost, free] = await entries()
      expect(lost).to.include({ e: 'lost', n: '1' })
      expect(free).to.include({ e: 'free', ok: '0' })
      expect(free?.err?.split(': ')[0]).to.equal(javaClass)
      expect(free?.err).to.have.lengthOf.within(60, 200)
    })
  }

  it('says when it did not get in, and why', async () => {
    await peer.thread('a').lock('order')
    const options = { durationMs: 600_000, waitTime: 10, leaseTime: 4000, evidence }
    const contending = peer.contend('order', options)
    await recorded(({ e }) => e === 'quit')
    await redis.multi().del('order').set('order', 'no lock').exec()
    await recorded(({ err = '' }) => err.startsWith('org.redisson.client.RedisException: '))
    await peer.stopContending()
    const { sections, timeouts, errors } = await contending
    expect({ sections, errors }).to.deep.equal({ sections: 0, errors: [] })
    expect(timeouts).to.be.greaterThan(0)
    const turns = turnsOf(await entries())
    for (const turn of turns) {
      expect(turn.map(({ e, lease }) => [e, lease])).to.deep.equal([
        ['want', '4000'],
        ['quit', '4000'],
      ])
    }
    expect(turns.filter(([, quit]) => quit?.err === undefined)).to.have.length(timeouts)
  })

  it('holds for long now and then', async () => {
    const options = { sections: 40, holdMs: 0, longHoldMs: [60, 70], longHoldEvery: 4, evidence } as const
    await peer.contend('order', options)
    const held = turnsOf(await entries()).map(([, into, out]) => (Number(out?.t) - Number(into?.t)) / 1000)
    // Of 40 sections, none or all would be long once in 100,000 runs.
    expect(held.filter((ms) => ms >= 60).length).to.be.within(1, 39)
  })

  it('records nothing twice, also if the answer is late', async () => {
    const contending = peer.contend('order', { threads: 2, durationMs: 600_000, holdMs: 1, evidence })
    await recorded(({ n }) => Number(n) > 5)
    // Longer than Redisson waits for an answer before it sends again.
    await seen.call('CLIENT', 'PAUSE', '4000', 'WRITE')
    await sleep(4100)
    await peer.stopContending()
    expect((await contending).errors).to.deep.equal([])
    const steps = (await entries()).map(({ f, n, e }) => `${f} ${n} ${e}`)
    expect(steps).to.have.length(new Set(steps).size)
  })

  it('does not hide that the evidence is incomplete', async () => {
    const doomed = await startStandalone()
    const watch = new Redis(doomed.url)
    const options = { threads: 2, durationMs: 600_000, evidence: { ...evidence, url: doomed.url } }
    const contending = peer.contend('order', options)
    await waitUntil('entries are there', async () => (await watch.xlen('sections')) > 20)
    watch.disconnect()
    await doomed.stop()
    await sleep(100)
    await peer.stopContending()
    const report = await contending
    expect(report.errorCount).to.be.greaterThan(0)
    expect(report.errors[0]).to.contain('java.io.IOException: evidence server')
    expect(await redis.exists('order'), 'still locked').to.equal(0)

    await seen.set('text', 'no stream')
    const broken = { ...evidence, stream: 'text' }
    const refused = await peer.contend('order', { durationMs: 2_000, evidence: broken })
    expect(refused.errors[0]).to.contain('WRONGTYPE')
    expect(await redis.exists('order'), 'still locked').to.equal(0)
  })
}

async function entries(): Promise<Entry[]> {
  return (await seen.xrange('sections', '-', '+')).map(([, fields]) => {
    const pairs = fields.flatMap((field, i) => (i % 2 === 0 ? [[field, fields[i + 1]] as const] : []))
    return Object.fromEntries(pairs) as Entry
  })
}

function recorded(found: (entry: Entry) => boolean): Promise<void> {
  return waitUntil('an entry is there', async () => (await entries()).some(found))
}

/** By thread and turn, each in the order the server has them; a thread's turns are counted without a gap. */
function turnsOf(all: Entry[]): Entry[][] {
  return groups(all, ({ f }) => f).flatMap((ofThread) => {
    const turns = groups(ofThread, ({ n }) => n)
    expect(turns.map(([first]) => Number(first?.n))).to.deep.equal(upTo(turns.length))
    expect(turns.flat()).to.deep.equal(ofThread)
    return turns
  })
}

function groups(all: Entry[], of: (entry: Entry) => string | undefined): Entry[][] {
  return [...new Set(all.map(of))].map((key) => all.filter((entry) => of(entry) === key))
}

function upTo(last: number): number[] {
  return Array.from({ length: last }, (_, i) => i + 1)
}

function microseconds(): number {
  return Number(process.hrtime.bigint() / 1000n)
}
