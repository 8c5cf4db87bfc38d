import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { expect } from 'chai'
import { describeWithJava } from '../../test/kit/java'

const DEMO = join(__dirname, '../demo.ts')
// Tab and line feed apart, nothing that steers a terminal; ASCII only.
const PLAIN = /^[\n\x20-\x7e]*$/

describe('The demo', () => {
  it('The demo runs with Node alone and says that no Java took part', async () => {
    const { code, stdout } = await runDemo(['--no-java', '--seconds', '1.5'])
    expect(stdout).to.match(/^OK: 0 overlaps\. No Java took part/m)
    expect(stdout).to.match(/^Java: none, going on with Node only/m)
    expect(code).to.equal(0)
  })

  it('The demo fails when the processes do not exclude each other', async () => {
    const env = { RLOCK_DEMO_TEST_BREAK_LOCK: '1' }
    const { code, stdout } = await runDemo(['--no-java', '--seconds', '1'], env)
    expect(stdout).to.match(/^FAILED: \d+ of \d+ turns overlapped another/m)
    expect(stdout).to.match(/^FAILED: .*without owning the lock/m)
    expect(stdout).to.match(/^FAILED: \d+ updates of the counter were lost/m)
    expect(stdout).not.to.match(/^OK/m)
    expect(code).to.equal(1)
  })

  it('Where nothing can start a server, the demo installs none, says so, and runs in memory', async () => {
    const { code, stdout } = await runDemo(['--seconds', '1.5'], {
      PATH: '',
      DOCKER_HOST: 'tcp://127.0.0.1:1',
      RLOCK_TEST_REDIS_URL: '',
      RLOCK_TEST_REDIS_SERVER: '',
      RLOCK_TEST_REDIS_IMAGE: '',
    })
    // A container engine may be found by a way of its own.
    if (!/^Server: (Redis|Valkey)/m.test(stdout))
      expect(stdout).to.match(/no redis-server.*\n.*\n.*apt-get install/)
    expect(stdout).to.match(/^OK: 0 overlaps/m)
    expect(code).to.equal(0)
  })

  for (const args of [[], ['--read-write']])
    it(`The demo runs in memory${args.map((arg) => ` with ${arg}`)} and says what that does not show`, async () => {
      const { code, stdout } = await runDemo(['--in-memory', '--seconds', '1.5', ...args])
      expect(stdout).to.match(/^Node: 3 clients in one process/m)
      expect(stdout).to.match(/^OK: .*One process without a Redis/m)
      expect(stdout).to.match(PLAIN)
      expect(code).to.equal(0)
    })

  it('The demo in memory fails when the clients do not exclude each other', async () => {
    const env = { RLOCK_DEMO_TEST_BREAK_LOCK: '1' }
    const { code, stdout } = await runDemo(['--in-memory', '--seconds', '1'], env)
    expect(stdout).to.match(/^FAILED: \d+ of \d+ turns overlapped another/m)
    expect(code).to.equal(1)
  })

  for (const [where, scrapes] of [
    ['--no-java', ['node-1', 'node-2', 'node-3']],
    ['--in-memory', ['node-1']],
  ] as const)
    it(`The demo with --metrics ${where} prints what a scrape of each process would see`, async () => {
      const { code, stdout } = await runDemo([where, '--metrics', '--seconds', '1'])
      expect([...stdout.matchAll(/^A scrape of (.+) would see:$/gm)].map(([, who]) => who)).to.deep.equal(
        scrapes,
      )
      const holds = stdout.match(/^rlock_hold_seconds_count\{kind="lock",group="rlock-demo"\} [1-9]\d*$/gm)
      expect(holds).to.have.length(scrapes.length)
      for (const name of ['rlock_wait_seconds', 'rlock_holds', 'rlock_waiters', 'rlock_losses_total'])
        expect(stdout).to.contain(`\n# TYPE ${name} `)
      expect(code).to.equal(0)
    })

  it('The demo says how it is used when asked for what it does not know', async () => {
    for (const args of [
      ['--bogus'],
      ['--seconds', 'long'],
      ['--callers', '0'],
      ['more'],
      ['--in-memory', '--install'],
    ]) {
      const { code, stderr } = await runDemo(args)
      expect(stderr, args.join(' ')).to.contain('usage: npm run demo')
      expect(code, args.join(' ')).to.equal(2)
    }
  })

  it('The demo with --read-write fails when nothing keeps writers alone', async () => {
    const env = { RLOCK_DEMO_TEST_BREAK_LOCK: '1' }
    const { code, stdout } = await runDemo(['--read-write', '--no-java', '--seconds', '2'], env)
    expect(stdout).to.match(/^FAILED: \d+ of \d+ turns overlapped another, and one of the two wrote$/m)
    expect(stdout).to.match(/^FAILED: a turn was not covered by a hold of its own \d+ times$/m)
    expect(stdout).to.match(/^FAILED: \d+ reads were torn$/m)
    expect(stdout).not.to.match(/^OK/m)
    expect(code).to.equal(1)
  })

  it('The demo with --read-write runs with Node alone and says that no Java took part', async () => {
    const { code, stdout } = await runDemo(['--read-write', '--no-java', '--seconds', '2'])
    expect(stdout).to.match(
      /^OK: readers overlapped; writers were alone, .*No Java took part: this shows nothing about Node beside Java$/m,
    )
    expect(code).to.equal(0)
  })

  describeWithJava('Beside Java', () => {
    it('The demo beside Java has handoffs in all four directions and no overlap, in plain text', async () => {
      const { code, stdout } = await runDemo(['--seconds', '4'])
      expect(stdout).to.match(PLAIN)
      expect(stdout).to.match(/^OK: 0 overlaps, and handoffs in all four directions$/m)
      const handoffs = [...stdout.matchAll(/^ {2}from (?:Node|Java) +(\d+) +(\d+)$/gm)].flatMap((row) => [
        Number(row[1]),
        Number(row[2]),
      ])
      expect(handoffs).to.have.length(4)
      for (const count of handoffs) expect(count).to.be.greaterThan(0)
      for (const who of ['node-1', 'node-2', 'node-3', 'java'])
        expect(stdout).to.match(new RegExp(`^${who} +[.#]+ +[1-9]\\d*$`, 'm'))
      expect(code).to.equal(0)
    })

    it('demo --read-write beside Java has readers together and writers alone, in plain text', async () => {
      const { code, stdout } = await runDemo(['--read-write', '--seconds', '4'])
      expect(stdout).to.match(PLAIN)
      expect(stdout).to.match(/^OK: readers overlapped, Node beside Java too; writers were alone/m)
      expect(stdout).to.match(/[1-9]\d* in two Node processes, [1-9]\d* in Node and Java$/m)
      for (const who of ['node-1', 'node-2', 'node-3', 'java']) {
        expect(stdout).to.match(new RegExp(`^${who} +[.rW2-9+]+ +[1-9]\\d* +[1-9]\\d*$`, 'm'))
        expect(stdout).to.match(new RegExp(`^ {2}${who} +[1-9]\\d* +[1-9]\\d*$`, 'm'))
      }
      for (const waits of ['Node read', 'Node write', 'Java read', 'Java write'])
        expect(stdout).to.match(new RegExp(`^ {2}${waits}( +\\d+\\.\\d){3}$`, 'm'))
      expect(code).to.equal(0)
    })
  })
})

/** As in a pipe, and where somebody wants colours all the same. */
function runDemo(args: string[], env: NodeJS.ProcessEnv = {}) {
  const child = spawn(process.execPath, ['--import', 'tsx', DEMO, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, CI: '1', FORCE_COLOR: '1', NO_COLOR: '', ...env },
  })
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', (data) => {
    stdout += data
  })
  child.stderr.on('data', (data) => {
    stderr += data
  })
  return new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve) => {
    child.once('close', (code) => resolve({ code, stdout, stderr }))
  })
}
