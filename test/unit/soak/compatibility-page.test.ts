import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { COMMAND_CHECKS } from '../../soak/compatibility/command/run-command'
import { PARTS } from '../../soak/compatibility/options'
import { counts, notesOf, report, withTables, yesOrNo } from '../../soak/compatibility/report/table'
import { merged, type Result, type Results, total } from '../../soak/compatibility/run/result'
import { CHECKS } from '../../soak/compatibility/runtimes/run-program'

const ROOT = join(__dirname, '../../..')
const ROWS = [
  { name: 'locks', title: 'each kind of lock' },
  { name: 'scripts', title: 'the Lua scripts' },
]

function result(name: string, changes: Partial<Result> = {}): Result {
  return {
    name,
    title: `Redis ${name}`,
    version: `${name}.1`,
    from: 'the system',
    beside: '20.20.2',
    date: '2026-11-22',
    seconds: 60,
    parts: { locks: { passed: 40, pending: 0, failed: 0 }, scripts: { passed: 9, pending: 0, failed: 0 } },
    pendingReasons: [],
    failures: [],
    repeated: [],
    ...changes,
  }
}

const tableOf = (...results: Result[]) => report({ results, rows: ROWS, beside: 'Node' })

describe('The tables of the compatibility page', () => {
  it('A table of the compatibility page has a column for each run and a row for each part', () => {
    expect(tableOf(result('6.2'), result('7.0'))).to.equal(
      [
        '|  | Redis 6.2 | Redis 7.0 |',
        '| --- | ---: | ---: |',
        '| version | 6.2.1 | 7.0.1 |',
        '| from | the system | the system |',
        '| ran | 2026-11-22, Node 20.20.2 | 2026-11-22, Node 20.20.2 |',
        '| each kind of lock | 40 | 40 |',
        '| the Lua scripts | 9 | 9 |',
        '| **all** | 49 | 49 |',
      ].join('\n'),
    )
  })

  it('A cell of the compatibility page counts tests, and is empty for a part not run', () => {
    expect(counts({ passed: 41, pending: 0, failed: 0 })).to.equal('41')
    expect(counts({ passed: 38, pending: 3, failed: 1 })).to.equal('38, 3 pending, **1 failed**')
    expect(counts(undefined)).to.equal('–')
    expect(yesOrNo({ passed: 1, pending: 0, failed: 0 })).to.equal('yes')
    expect(yesOrNo({ passed: 5, pending: 0, failed: 1 })).to.equal('**no**')
    expect([yesOrNo(undefined), yesOrNo({ passed: 0, pending: 0, failed: 0 })]).to.deep.equal(['–', '–'])
    const { locks } = result('6.2').parts
    expect(tableOf(result('6.2', { parts: { locks: locks! } }))).to.contain('| the Lua scripts | – |')
  })

  it('A compatibility run tells each reason once, with the columns that it holds for', () => {
    const all = 'a lock beside redsync (no Go)'
    const old = 'SPUBLISH (the server has no sharded pub/sub)'
    const notes = notesOf([
      result('6.2', { pendingReasons: [all, old] }),
      result('7.0', { pendingReasons: [all] }),
    ])
    expect(notes.split('\n').slice(-4)).to.deep.equal([
      'Pending:',
      '',
      `- everywhere: ${all}`,
      `- Redis 6.2: ${old}`,
    ])
  })

  it('A compatibility run tells what passed only when it was run again alone', () => {
    const lines = notesOf([result('6.2', { repeated: ['A lock is quick'] }), result('7.0')]).split('\n')
    expect(lines.at(-3)).to.match(/^Failed in the whole run/)
    expect(lines.at(-1)).to.equal('- Redis 6.2: A lock is quick')
  })

  it('Below a table of the compatibility page stand failures with title and message', () => {
    const failures = [
      { part: 'locks', title: 'A lock is held', message: 'Error: it is not\n    at lock.ts:1' },
      { part: undefined, title: 'the run itself', message: 'mocha ended with 143 before the last test' },
    ]
    const lines = tableOf(result('6.2', { failures })).split('\n').slice(-4)
    expect(lines).to.deep.equal([
      '**Failed:**',
      '',
      '- Redis 6.2, locks: A lock is held: Error: it is not',
      '- Redis 6.2: the run itself: mocha ended with 143 before the last test',
    ])
  })

  it('The total of a run adds up its parts', () => {
    const scripts = { passed: 9, pending: 2, failed: 1 }
    expect(total({ ...result('6.2').parts, scripts })).to.deep.equal({ passed: 49, pending: 2, failed: 1 })
  })
})

describe('The compatibility page', () => {
  const rows = { parts: ROWS, checks: [], commands: [] }
  const page = ['servers', 'nodes', 'runtimes', 'command']
    .map((name) => `prose of ${name}\n<!-- compatibility: ${name} -->\nold\n<!-- /compatibility -->\n`)
    .join('')
  const results: Results = { servers: [result('7.0')], nodes: [], runtimes: [], command: [] }

  it('The compatibility page keeps its prose, and the tables of what has never run', () => {
    const written = withTables(page, results, rows)
    const [servers, ...others] = written.split('<!-- /compatibility -->')
    expect(servers)
      .to.match(/^prose of servers\n<!-- compatibility: servers -->\n\n\| {2}\| Redis 7\.0/)
      .and.not.contain('old')
    expect(others.join('')).to.equal(
      page.slice(page.indexOf('\nprose of nodes')).replaceAll('<!-- /compatibility -->', ''),
    )
    expect(withTables(written, results, rows), 'written twice').to.equal(written)
  })

  it('The compatibility page without a marker is refused: a run would be lost', () => {
    expect(() => withTables(page.replace('compatibility: nodes', 'nodes'), results, rows)).to.throw(/nodes/)
  })

  it('The compatibility page replaces the run of one name, and keeps the others', () => {
    const known = [result('7.0'), result('6.2'), result('3.2')]
    const fresh = [result('7.0', { date: '2026-12-01' })]
    const columns = merged(known, fresh, ['6.2', '7.0', '7.4'])
    expect(columns.map(({ name, date }) => [name, date])).to.deep.equal([
      ['6.2', '2026-11-22'],
      ['7.0', '2026-12-01'],
    ])
  })

  it('The compatibility page in docs/ is what its results say', () => {
    const there = readFileSync(join(ROOT, 'docs/operations/compatibility.md'), 'utf8')
    const kept = JSON.parse(
      readFileSync(join(ROOT, 'test/soak/compatibility/results.json'), 'utf8'),
    ) as Results
    expect(withTables(there, kept, { parts: PARTS, checks: CHECKS, commands: COMMAND_CHECKS })).to.equal(
      there,
    )
  })
})
