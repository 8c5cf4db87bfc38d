import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { withRegions } from '../../kit/docs/regions'
import { parseOptions } from '../../soak/compatibility/compatibility'
import type { Kind, Result, Results } from '../../soak/compatibility/result'
import { CHECKS, outcomeOf as outcomeOfProgram } from '../../soak/compatibility/runtimes'
import { assertSeries, PARTS, parseVersion, SERVERS } from '../../soak/compatibility/subjects'
import { outcomeOf } from '../../soak/compatibility/suite'
import { merged, PAGE, report } from '../../soak/compatibility/table'

const ROOT = join(__dirname, '../../..')
const LOCKS = '/a/test/locks/lock.test.ts'
const SCRIPT = 'C:\\a\\test\\scripts\\release.test.ts'

function result(name: string, changes: Partial<Result> = {}): Result {
  const locks = { passed: 38, pending: 3, failed: 0 }
  return {
    ...{ name, title: `Redis ${name}`, version: `${name}.1`, from: 'the system', beside: '20.20.2' },
    ...{ date: '2026-11-22', parts: { locks, scripts: { passed: 9, pending: 0, failed: 1 } }, failures: [] },
    ...changes,
  }
}

describe('The tables of the compatibility page', () => {
  it('A table has a column for each run, a row for each part, and the failures below', () => {
    const failures = [
      { part: 'scripts', title: 'A lock is held', message: 'Error: it is not\n    at lock.ts:1' },
      { part: undefined, title: 'the run itself', message: 'mocha ended with 143' },
    ]
    const lines = report('servers', [result('6.2', { failures }), result('7.0', { parts: {} })]).split('\n')
    expect(lines).to.include.members([
      '|  | Redis 6.2 | Redis 7.0 |',
      '| --- | ---: | ---: |',
      '| version | 6.2.1 | 7.0.1 |',
      '| ran | 2026-11-22, Node 20.20.2 | 2026-11-22, Node 20.20.2 |',
      `| ${PARTS[0]!.title} | 38, 3 pending | – |`,
      '| **all** | 47, 3 pending, **1 failed** | 0 |',
    ])
    expect(lines.slice(-4)).to.deep.equal([
      '**Failed:**',
      '',
      '- Redis 6.2, scripts: A lock is held: Error: it is not',
      '- Redis 6.2: the run itself: mocha ended with 143',
    ])
  })

  it('The compatibility page replaces the run of one name, and keeps the others', () => {
    const known = [result('7.0'), result('6.2'), result('3.2')]
    const columns = merged(known, result('7.0', { date: '2026-12-01' }), SERVERS)
    expect(columns.map(({ name, date }) => [name, date])).to.deep.equal([
      ['6.2', '2026-11-22'],
      ['7.0', '2026-12-01'],
    ])
  })

  it('The compatibility page in docs/ is what its results say', () => {
    const there = readFileSync(join(ROOT, PAGE), 'utf8')
    const file = join(ROOT, 'test/soak/compatibility/results.json')
    const { ...left } = JSON.parse(readFileSync(file, 'utf8')) as Partial<Results>
    const written = withRegions(there, 'compatibility', (name) => {
      const text = report(name as Kind, left[name as Kind]!)
      delete left[name as Kind]
      return text
    })
    expect(written).to.equal(there)
    expect(left, 'a table without a place').to.deep.equal({})
  })
})

describe('The runs of the compatibility page', () => {
  it('A run counts what each part passed, skipped and failed, and keeps each failure', () => {
    const test = (file: string | undefined, fullTitle: string, err = {}) => ({ file, fullTitle, err })
    const json = JSON.stringify({
      ...{ passes: [test(LOCKS, 'one')], pending: [test(LOCKS, 'two')] },
      failures: [test(SCRIPT, 'three', { message: 'no', stack: 'Error: no' }), test(undefined, 'a hook')],
    })
    const { parts, failures } = outcomeOf(json, PARTS, 2)
    expect([parts.locks, parts.scripts]).to.deep.equal([
      { passed: 1, pending: 1, failed: 0 },
      { passed: 0, pending: 0, failed: 1 },
    ])
    expect(failures).to.deep.equal([
      { part: 'scripts', title: 'three', message: 'Error: no' },
      { part: undefined, title: 'a hook', message: '' },
    ])
  })

  it('A run of which mocha wrote nothing, or that ended early, has failed', () => {
    const json = JSON.stringify({ passes: [], pending: [], failures: [] })
    for (const found of [outcomeOf(undefined, PARTS, 0), outcomeOf(json, PARTS, null)])
      expect(found.failures.map(({ title }) => title)).to.deep.equal(['the run itself'])
    expect(outcomeOf(json, PARTS, 0).failures).to.deep.equal([])
  })

  it('The parts are folders that are there, and a file belongs to one part', () => {
    const folders = PARTS.flatMap((part) => part.folders)
    for (const folder of folders) expect(existsSync(join(ROOT, 'test', folder)), folder).to.equal(true)
    expect(new Set(folders).size).to.equal(folders.length)
  })

  it('A run refuses a server of another series than its column says', () => {
    const [redis62] = SERVERS
    const text = (program: string, version: string) => `${program} server v=${version} sha=0:0 malloc=libc`
    assertSeries(redis62!, parseVersion(text('Redis', '6.2.14')))
    for (const found of [text('Redis', '6.20.1'), text('Redis', '7.0.15'), text('Valkey', '6.2.0')])
      expect(() => assertSeries(redis62!, parseVersion(found)), found).to.throw(/Redis 6.2 is wanted/)
    expect(() => parseVersion('command not found')).to.throw(/No version/)
  })

  it('A run takes all columns, or those that are named, in the order of the page', () => {
    const named = parseOptions(['servers', '--only', '9.1,6.2', '--parts', 'scripts'])!
    expect(named.columns.map(({ name }) => name)).to.deep.equal(['6.2', '9.1'])
    expect(named.parts.map(({ name }) => name)).to.deep.equal(['scripts'])
    expect(parseOptions(['nodes'])).to.deep.include({ kind: 'nodes', parts: PARTS, jobs: 2, list: false })
    expect(() => parseOptions(['servers', '--only', '5.0'])).to.throw(/--only takes one of 6.2/)
    expect(() => parseOptions([])).to.throw(/KIND takes one of servers/)
  })

  it("A runtime passes a check only by its line, and shutdown by the process's end", () => {
    const lines = CHECKS.map(({ name }) => ({ check: name, ok: true }))
    const failedOf = (...of: Parameters<typeof outcomeOfProgram>) =>
      outcomeOfProgram(...of).failures.map(({ part, message }) => [part, message])
    expect(failedOf(lines, 0, '')).to.deep.equal([])
    expect(failedOf(lines, null, '')).to.deep.equal([['shutdown', 'the process ended with null']])
    expect(failedOf(lines.slice(0, -2), 0, 'a crash')).to.deep.equal([
      ['loss', 'was not reached: a crash'],
      ['shutdown', 'was not reached: a crash'],
    ])
    const lost = lines.with(5, { check: 'loss', ok: false, message: 'no signal' } as never)
    expect(failedOf(lost, 0, '')).to.deep.equal([['loss', 'no signal']])
    expect(outcomeOfProgram(lost, 0, '').parts.loss).to.deep.equal({ passed: 0, pending: 0, failed: 1 })
  })
})
