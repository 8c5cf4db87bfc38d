import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { expect } from 'chai'
import { endWithThisProcess } from '../../../test/kit/servers/left-behind'
import { runInMemory, SYNCHRONIZERS } from './suites'

interface Report {
  readonly stats: { readonly suites: number }
  readonly passes: readonly Test[]
  readonly failures: readonly Test[]
  readonly pending: readonly Test[]
}

interface Test {
  readonly fullTitle: string
  readonly err: { readonly message?: string }
}

describe('On the in-memory server', function () {
  this.timeout(300_000)

  it('The suites of semaphores and latches pass; what is pending says why', async () => {
    const mocha = runInMemory(SYNCHRONIZERS, '--jobs', '2', '--reporter', 'json')
    endWithThisProcess(mocha)
    const [out] = await Promise.all([text(mocha.stdout!), once(mocha, 'close')])
    const { passes, failures, pending } = JSON.parse(out.slice(out.indexOf('{'))) as Report
    expect(failures.map(({ fullTitle, err }) => `${fullTitle}: ${err.message}`)).to.deep.equal([])
    for (const { fullTitle } of pending) expect(fullTitle).to.contain('(not in memory: ')
    expect(passes.length).to.be.greaterThan(10 * SYNCHRONIZERS.length)
  })
})
