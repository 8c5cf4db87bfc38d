import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { PARTS, parseOptions, partOf, patternsOf } from '../../soak/compatibility/options'
import { EVENT_MARK, EventTally, eventIn, pendingReasonIn } from '../../soak/compatibility/run/events'
import { CHECKS, outcomeOf } from '../../soak/compatibility/runtimes/run-program'
import { assertSeries, parseVersion, runtimeVersion, SERVERS } from '../../soak/compatibility/subjects'

const ROOT = join(__dirname, '../../..')
const LOCKS = '/a/test/locks/lock.test.ts'
const SCRIPT = '/a/test/scripts/release.test.ts'

describe('The runs of the compatibility page', () => {
  it('A run counts what each part passed, skipped and failed, and keeps each failure', () => {
    const tally = new EventTally(['locks', 'scripts'], partOf)
    tally.add({ kind: 'pass', file: LOCKS, title: 'one' })
    tally.add({ kind: 'pending', file: LOCKS, title: 'two' })
    tally.add({ kind: 'fail', file: SCRIPT, title: 'three', message: 'no' })
    tally.add({ kind: 'fail', file: undefined, title: 'a hook', message: 'neither' })
    expect(tally.ended, 'before its end').to.equal(false)
    tally.add({ kind: 'end' })
    expect(tally.ended).to.equal(true)
    expect(tally.tallies).to.deep.equal({
      locks: { passed: 1, pending: 1, failed: 0 },
      scripts: { passed: 0, pending: 0, failed: 1 },
    })
    expect(tally.failures).to.deep.equal([
      { part: 'scripts', title: 'three', message: 'no' },
      { part: undefined, title: 'a hook', message: 'neither' },
    ])
  })

  it('A run takes what a file did when it was run again alone, and keeps what other files did', () => {
    const first = new EventTally(['locks', 'scripts'], partOf)
    first.add({ kind: 'pass', file: SCRIPT, title: 'zero' })
    first.add({ kind: 'pass', file: LOCKS, title: 'one' })
    first.add({ kind: 'fail', file: LOCKS, title: 'two', message: 'late' })
    expect(first.failedFiles).to.deep.equal([LOCKS])
    const second = new EventTally(['locks', 'scripts'], partOf)
    for (const title of ['one', 'two']) second.add({ kind: 'pass', file: LOCKS, title })
    first.replaceBy(second)
    expect([first.failedFiles, first.failures]).to.deep.equal([[], []])
    expect(first.tallies).to.deep.equal({
      locks: { passed: 2, pending: 0, failed: 0 },
      scripts: { passed: 1, pending: 0, failed: 0 },
    })
  })

  it('A run reads events and reasons among what the tests print', () => {
    const event = { kind: 'pass', file: LOCKS, title: 'one' }
    expect(eventIn(`printed by a test${EVENT_MARK}${JSON.stringify(event)}`)).to.deep.equal(event)
    expect(eventIn('printed by a test')).to.equal(undefined)
    expect(pendingReasonIn('Pending: a lock beside redsync (no Go)')).to.equal(
      'a lock beside redsync (no Go)',
    )
    expect(pendingReasonIn('an operation is Pending: no')).to.equal(undefined)
  })

  it('A run takes folders that are there, and a file belongs to one part', () => {
    for (const { folders } of PARTS)
      for (const folder of folders) expect(existsSync(join(ROOT, 'test', folder)), folder).to.equal(true)
    expect(patternsOf(PARTS)).to.include('test/locks/**/*.test.ts')
    expect(partOf(LOCKS)).to.equal('locks')
    expect(partOf('C:\\a\\test\\locks\\lock.test.ts')).to.equal('locks')
    expect(partOf('/a/test/unit/locks.test.ts')).to.equal(undefined)
    const folders = PARTS.flatMap((part) => part.folders)
    expect(new Set(folders).size).to.equal(folders.length)
  })

  it('A run refuses a server of another series than its column says', () => {
    const [redis62] = SERVERS
    const valkey = SERVERS.find(({ title }) => title === 'Valkey 9.1')!
    const text = (program: string, version: string) => `${program} server v=${version} sha=0:0 malloc=libc`
    assertSeries(redis62!, parseVersion(text('Redis', '6.2.14')))
    assertSeries(valkey, parseVersion(text('Valkey', '9.1.2')))
    for (const found of [text('Redis', '6.20.1'), text('Redis', '7.0.15'), text('Valkey', '6.2.0')])
      expect(() => assertSeries(redis62!, parseVersion(found)), found).to.throw(/Redis 6.2 is wanted/)
    expect(() => parseVersion('command not found')).to.throw(/No version/)
    expect(runtimeVersion('deno 2.9.6 (stable, release)')).to.equal('2.9.6')
  })

  it('A run takes all servers, or those that are named, in the order of the page', () => {
    const named = parseOptions(['--only', '9.1,6.2', '--parts', 'scripts'], SERVERS)!
    expect(named.subjects.map(({ name }) => name)).to.deep.equal(['6.2', '9.1'])
    expect(named.parts.map(({ name }) => name)).to.deep.equal(['scripts'])
    expect(parseOptions([], SERVERS)).to.deep.equal({ subjects: SERVERS, parts: PARTS, jobs: 2, list: false })
    expect(parseOptions(['--help'], SERVERS)).to.equal(undefined)
    expect(() => parseOptions(['--only', '5.0'], SERVERS)).to.throw(/--only takes one of 6.2/)
  })

  it("A runtime passes a check only by its line, and shutdown by the process's end", () => {
    const lines = CHECKS.map(({ name }) => ({ check: name, ok: true }))
    const failedOf = (...of: Parameters<typeof outcomeOf>) =>
      outcomeOf(...of).failures.map(({ part }) => part)
    expect(failedOf(lines, 0, '')).to.deep.equal([])
    expect(failedOf(lines, null, '')).to.deep.equal(['shutdown'])
    expect(failedOf(lines.slice(0, -2), 1, 'a crash')).to.deep.equal(['loss', 'shutdown'])
    const lost = lines.map((line) =>
      line.check === 'loss' ? { ...line, ok: false, message: 'no signal' } : line,
    )
    expect(outcomeOf(lost, 0, '').failures).to.deep.include({
      part: 'loss',
      title: 'a lost lock aborts the signal',
      message: 'no signal',
    })
    expect(outcomeOf(lost, 0, '').parts.loss).to.deep.equal({ passed: 0, pending: 0, failed: 1 })
  })
})
