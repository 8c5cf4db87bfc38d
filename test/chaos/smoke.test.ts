import { expect } from 'chai'
import { javaAvailability } from '../../compat/java-peer'
import { run } from './run'

/**
 * A small helping of `npm run chaos`: half a minute of Node and Java workers on one server, some fifteen
 * faults. The long runs, Sentinel and the cluster are in docs/reliability.md.
 */
describe('a short chaos run', () => {
  const options = { topology: 'standalone', nodeWorkers: 2, mutant: undefined, stopAtFirst: false } as const

  it('violates nothing', async function () {
    this.timeout(240_000)
    const { available: java } = await javaAvailability()
    const { judge, injected } = await run({ ...options, seed: 5, lastsMs: 30_000, java }, () => {})
    expect(judge.violations.map(({ kind, what }) => `${kind}: ${what}`)).to.be.empty
    expect(injected).to.be.at.least(8)
    expect(judge.tally.sections).to.be.at.least(500)
  })

  it('objects to a lock that is broken on purpose', async function () {
    this.timeout(240_000)
    const mutant = { ...options, mutant: 'renewal-not-sent', stopAtFirst: true } as const
    const { judge } = await run({ ...mutant, seed: 5, lastsMs: 60_000, java: false }, () => {})
    expect(judge.violations.map(({ kind }) => kind)).to.include('overlap')
  })
})
