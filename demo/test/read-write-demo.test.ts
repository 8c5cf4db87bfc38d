import { expect } from 'chai'
import { describeWithJava } from '../../test/kit/java'
import { runDemo } from './run-demo'

// Tab and line feed apart, nothing that steers a terminal; ASCII only.
const PLAIN = /^[\n\x20-\x7e]*$/

describe('The demo with --read-write', () => {
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
