import { expect } from 'chai'
import { FAULTS, type FaultKind, SPECS } from '../../soak/chaos/plan/catalogue'
import { type ScheduleOptions, schedule } from '../../soak/chaos/plan/schedule'

const options: ScheduleOptions = {
  ...{ seed: 7, topology: 'cluster', lastsMs: 600_000, nodeWorkers: 3, locks: 6 },
  ...{ lockWatchdogTimeout: 6_000, java: true, kinds: [] },
}

describe('The schedule of a chaos run', () => {
  it('The schedule of a chaos run is the same for the same seed, and another for another', () => {
    expect(schedule(options)).to.deep.equal(schedule(options))
    expect(schedule(options)).to.not.deep.equal(schedule({ ...options, seed: 8 }))
  })

  it('The schedules of chaos runs with one seed begin alike, for every length of the run', () => {
    const short = schedule({ ...options, lastsMs: 60_000 })
    expect(schedule(options).slice(0, short.length)).to.deep.equal(short)
  })

  it('The chaos schedule holds every fault that the topology knows, in ten minutes', () => {
    const drawn = new Set(schedule(options).map(({ kind }) => kind))
    const known = (Object.keys(FAULTS) as FaultKind[]).filter(
      (kind) => SPECS[kind].on?.includes('cluster') ?? true,
    )
    expect([...drawn].sort()).to.deep.equal(known.sort())
  })

  it('The schedule of a chaos run lets nothing begin while a fault lasts that must be alone', () => {
    const faults = schedule(options)
    const alone = faults.filter(({ kind }) => SPECS[kind].alone)
    const next = alone.flatMap((fault) => faults[faults.indexOf(fault) + 1] ?? [])
    expect(alone).to.not.be.empty
    expect([...alone, ...next].some(({ together }) => together)).to.equal(false)
    expect(faults.some(({ together }) => together)).to.equal(true)
  })

  it('The schedule of a chaos run holds only the kinds that were asked for, where they are known', () => {
    const only = (kinds: FaultKind[]) => new Set(schedule({ ...options, kinds }).map(({ kind }) => kind))
    expect([...only(['cut', 'late-copies'])].sort()).to.deep.equal(['cut', 'late-copies'])
    expect(only(['restart-empty'])).to.be.empty
  })

  it('The chaos schedule aims at present workers, and at Java only where it takes part', () => {
    const withoutJava = schedule({ ...options, java: false })
    expect(withoutJava.filter(({ kind }) => kind.endsWith('-java'))).to.be.empty
    expect(Math.max(...withoutJava.map(({ worker }) => worker))).to.equal(2)
    expect(Math.max(...schedule(options).map(({ worker }) => worker))).to.equal(3)
  })
})
