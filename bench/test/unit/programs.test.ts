import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { expect } from 'chai'
import { startStandalone, waitUntil } from '../../../test/kit/servers'
import { parseOptions as capacity } from '../../capacity/capacity'
import { openLayers } from '../../cycle/layers'
import { keepCoresAwake } from '../../driver/awake-cores'
import { parseOptions as bench } from '../../options'
import { parseOptions as pairs } from '../../pairs/options'

describe('The options of the benches', () => {
  const words = (args: string) => args.split(' ').filter(Boolean)
  const names = (all: readonly { name: string }[]) => all.map(({ name }) => name)

  it('npm run bench runs every scenario five times by default, and the objects where asked', () => {
    expect(bench([])).to.include({ quick: false, rounds: 5, seconds: 2, check: false })
    expect(bench(['--quick'])).to.include({ rounds: 2, seconds: 0.5 })
    expect(names(bench([])!.scenarios))
      .to.include('one-caller')
      .and.not.to.include('latch')
    expect(names(bench(['--objects'])!.scenarios))
      .to.include('latch')
      .and.not.to.include('one-caller')
  })

  it('npm run bench:pairs runs every scenario seven times by default, beside one other build', () => {
    expect(pairs(['main'])).to.include({ before: 'main', rounds: 7, seconds: 1.5 })
    expect(names(pairs(['main'])!.scenarios)).to.include.members(['one-caller', 'first-5000-cycles'])
    expect(names(pairs(['main', '--scenario', 'fenced'])!.scenarios)).to.deep.equal(['fenced'])
  })

  it('npm run bench:capacity takes parts by their names', () => {
    expect(names(capacity(['--part', 'waiters'])!.parts)).to.deep.equal(['waiters'])
    expect(capacity(['--report'])!.parts).to.deep.equal([])
  })

  it('The benches refuse what makes no sense, and know --help', () => {
    const refused: [typeof bench | typeof pairs | typeof capacity, string[]][] = [
      [
        bench,
        ['--rounds 0', '--rounds 1.5', '--seconds many', '--scenario none', '--subject none', '--json='],
      ],
      [pairs, ['', 'main other', 'main --rounds 0', 'main --scenario none', 'main --seconds 0']],
      [capacity, ['--part none', '--report --part waiters', '--unknown']],
    ]
    for (const [parse, all] of refused) {
      for (const args of all) expect(() => parse(words(args)), args).to.throw()
      expect(parse(['--help'])).to.equal(undefined)
    }
  })
})

describe('npm run bench:cycle', () => {
  it('Each layer of a lock, of a handoff, and of the ways to take a lock does its work', async () => {
    const server = await startStandalone()
    const layers = await openLayers(server.url)
    try {
      for (const { title, run } of [...layers.cycle, ...layers.handoff, ...layers.ways])
        expect(await run(performance.now() + 5), title).to.be.above(0)
    } finally {
      await layers.close()
      await server.stop()
    }
  })
})

/** The number of SCHED_IDLE, of which Linux tells in the 41st field. */
const IDLE = '5'

function schedulingClassOf(pid: number): string | undefined {
  // The name of the program, which may have blanks, is the second field.
  return readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]?.split(' ')[38]
}

describe('Cores that are kept awake', () => {
  it('Each core has a process of the idle class, until they may sleep', async function () {
    if (process.platform !== 'linux') this.skip()
    const { pids, letSleep } = await keepCoresAwake()
    try {
      expect(pids).to.have.lengthOf(availableParallelism())
      await waitUntil('each is of the idle class', () => pids.every((pid) => schedulingClassOf(pid) === IDLE))
    } finally {
      await letSleep()
    }
    for (const pid of pids) expect(() => process.kill(pid, 0)).to.throw('ESRCH')
  })
})
