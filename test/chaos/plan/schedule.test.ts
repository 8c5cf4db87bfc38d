import { expect } from 'chai'
import { FAULTS, type FaultKind, SPECS } from './catalogue'
import { type ScheduleOptions, schedule } from './schedule'

const options: ScheduleOptions = {
  ...{ seed: 7, topology: 'cluster', lastsMs: 600_000, nodeWorkers: 3, locks: 6 },
  ...{ lockWatchdogTimeout: 6_000, java: true },
}

describe('the schedule of a chaos run', () => {
  it('is the same for the same seed, and another for another', () => {
    expect(schedule(options)).to.deep.equal(schedule(options))
    expect(schedule(options)).to.not.deep.equal(schedule({ ...options, seed: 8 }))
  })

  it('begins alike however long the run', () => {
    const short = schedule({ ...options, lastsMs: 60_000 })
    expect(schedule(options).slice(0, short.length)).to.deep.equal(short)
  })

  it('holds every kind of fault that the topology knows, in ten minutes', () => {
    const drawn = new Set(schedule(options).map(({ kind }) => kind))
    const known = (Object.keys(FAULTS) as FaultKind[]).filter(
      (kind) => SPECS[kind].on?.includes('cluster') ?? true,
    )
    expect([...drawn].sort()).to.deep.equal(known.sort())
  })

  it('aims at workers that there are, and at Java only where it takes part', () => {
    const withoutJava = schedule({ ...options, java: false })
    expect(withoutJava.filter(({ kind }) => kind.endsWith('-java'))).to.be.empty
    expect(Math.max(...withoutJava.map(({ worker }) => worker))).to.equal(2)
    expect(Math.max(...schedule(options).map(({ worker }) => worker))).to.equal(3)
  })
})
