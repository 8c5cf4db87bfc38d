import { expect } from 'chai'
import { javaAvailability } from '../../kit/java'
import { parseOptions } from './options'
import { run } from './run'

/**
 * A small helping of `npm run chaos`: twenty seconds of Node and Java workers on one server, some nine
 * faults. The long runs, Sentinel and the cluster are in docs/evidence/reliability.md.
 */
describe('A short chaos run', () => {
  const sound = { mutant: undefined, stopAtFirst: false, kinds: [], objects: ['locks'] } as const
  const options = { topology: 'standalone', nodeWorkers: 2, ...sound } as const

  it('A short chaos run violates nothing', async function () {
    this.timeout(240_000)
    const { available: java } = await javaAvailability()
    const { judge, injected } = await run({ ...options, seed: 28, lastsMs: 20_000, java }, () => {})
    expect(judge.violations.map(({ kind, what }) => `${kind}: ${what}`)).to.be.empty
    expect(injected).to.be.at.least(5)
    expect(judge.tally.sections).to.be.at.least(300)
  })

  it('A short chaos run of the other locks, semaphores and latches violates nothing', async function () {
    this.timeout(240_000)
    const { available: java } = await javaAvailability()
    const { objects } = parseOptions(['--objects', 'all'])!
    const { judge } = await run({ ...options, objects, seed: 28, lastsMs: 20_000, java }, () => {})
    expect(judge.violations.map(({ kind, what }) => `${kind}: ${what}`)).to.be.empty
    expect(judge.tally.sections).to.be.at.least(200)
    const judged = judge.judged.flatMap(({ object, times }) => (times > 0 ? object : []))
    expect(judged).to.include.members(['chaos:fair', 'chaos:fenced', 'chaos:latch'])
  })

  it('A short chaos run objects to a semaphore that is broken on purpose', async function () {
    this.timeout(240_000)
    const mutant = {
      ...options,
      mutant: 'permit-unchecked',
      objects: ['permits'],
      stopAtFirst: true,
    } as const
    const { judge } = await run({ ...mutant, seed: 5, lastsMs: 60_000, java: false }, () => {})
    expect(judge.violations.map(({ kind }) => kind)).to.include('permits')
  })

  it('A short chaos run objects to a lock that is broken on purpose', async function () {
    this.timeout(240_000)
    const mutant = { ...options, mutant: 'renewal-not-sent', stopAtFirst: true } as const
    const { judge } = await run({ ...mutant, seed: 5, lastsMs: 60_000, java: false }, () => {})
    expect(judge.violations.map(({ kind }) => kind)).to.include('exclusion')
  })
})
