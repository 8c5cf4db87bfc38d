import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'

const execute = promisify(execFile)
const START = join(__dirname, '../start.mjs')

/** What the command prints, without its progress. */
const simulate = async (...args: string[]) => (await execute(process.execPath, [START, ...args])).stdout

describe('npm run simulate', () => {
  it('Every scene passes a hundred seeds', async () => {
    const last = (await simulate('--seeds', '100', '--jobs', '1')).trim().split('\n').at(-1)
    expect(last).to.match(/^100 schedules, \d{4,5} sections, \d{2,4} faults injected, 0 violations$/)
  }).timeout(300_000)

  it('Two processes find what one finds', async () => {
    const asked = ['--seeds', '20', '--scene', 'plain,latch', '--from', '7']
    expect(await simulate(...asked, '--jobs', '2')).to.equal(await simulate(...asked, '--jobs', '1'))
  }).timeout(120_000)

  it('A seed prints the hash of its trace, the same each time', async () => {
    const first = await simulate('--seed', '47', '--scene', 'plain')
    expect(first).to.match(/^trace [0-9a-f]{16}\n1 schedules, /)
    expect(await simulate('--seed', '47', '--scene', 'plain')).to.equal(first)
  }).timeout(60_000)
})
