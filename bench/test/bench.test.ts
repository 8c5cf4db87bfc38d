import { mkdirSync, mkdtempSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { build } from 'esbuild'
import { removeNow, removeWithThisProcess } from '../../test/kit/servers/left-behind'
import { measureHandoffs } from '../cycle/measure'
import { nodeWorker } from '../driver/programs'
import { type BenchRun, runBench } from '../driver/run'
import type { Command } from '../driver/worker-process'
import { parseOptions } from '../options'
import { spreadIn, tables } from '../report/tables'
import { judge, LOCK_TARGETS } from '../report/targets'

const ROOT = join(__dirname, '../..')

describe('the bench', () => {
  let directory: string
  let run: BenchRun
  let node: Command

  before(async () => {
    directory = mkdtempSync(join(tmpdir(), 'rlock-bench-'))
    removeWithThisProcess(directory)
    const asked = '--scenario one-caller --scenario one-process --subject rlock'
    const options = parseOptions(`--quick --rounds 2 --seconds 0.2 ${asked}`.split(' '))!
    node = await nodeWorker(await packageFromSources(directory), join(directory, 'worker'))
    run = await runBench(options, { node }, 'a test', () => {})
  })

  after(() => removeNow(directory))

  it('The bench measures every subject in every round', () => {
    const measured = run.measurements.map(({ round, scenario, subject }) => `${round} ${scenario} ${subject}`)
    expect(measured).to.have.members([
      ...['1 one-caller limit', '1 one-caller rlock', '1 one-process limit', '1 one-process rlock'],
      ...['2 one-caller limit', '2 one-caller rlock', '2 one-process limit', '2 one-process rlock'],
    ])
    expect(run.measurements.flatMap(({ troubles }) => troubles)).to.deep.equal([])
  })

  it('The bench measures a handoff between processes beside a message that locks nothing', async () => {
    const [limit, lock] = await measureHandoffs(node, () => {}, { rounds: 1, warmupMs: 200, measureMs: 600 })
    for (const { p50Ms, roundTrips } of [limit!, lock!]) {
      expect(p50Ms.median).to.be.above(0)
      expect(roundTrips.median).to.be.above(0)
    }
  })

  it('The bench counts what clients sent apart from what scripts called', () => {
    const median = (subject: string, name: string) => spreadIn(run, 'one-caller', subject, name)!.median
    for (const subject of ['limit', 'rlock'])
      expect(median(subject, 'clientCommandsPerSection')).to.be.closeTo(2, 0.3)
    expect(median('limit', 'serverCommandsPerSection')).to.be.closeTo(2, 0.3)
    expect(median('rlock', 'serverCommandsPerSection')).to.be.greaterThan(4)
  })

  it('The bench compares with the limit of the same round, and judges by the median', () => {
    const ofLimit = spreadIn(run, 'one-process', 'rlock', 'ofLimit')!
    const rate = (subject: string, round: number) =>
      run.measurements.find(
        (one) => one.scenario === 'one-process' && one.subject === subject && one.round === round,
      )!.figures.sectionsPerSecond!
    const ratios = [1, 2].map((round) => rate('rlock', round) / rate('limit', round))
    expect([ofLimit.least, ofLimit.most]).to.deep.equal([Math.min(...ratios), Math.max(...ratios)])
    const judged = judge(run, LOCK_TARGETS)
    const named = (title: string) => judged.find(({ target }) => target.title === title)!
    expect(named('one-process: of the one-caller limit').met).to.equal(ofLimit.median >= 1.6)
    expect(named('one-caller: of Java Redisson').met).to.equal(undefined)
    expect(tables(run)).to.contain('| rlock ')
  })
})

/** What `npm run build` would make of it, without touching what others may be using just now. */
async function packageFromSources(directory: string): Promise<string> {
  const home = join(directory, 'package')
  mkdirSync(home)
  symlinkSync(join(ROOT, 'node_modules'), join(home, 'node_modules'), 'dir')
  await build({
    entryPoints: [join(ROOT, 'src/index.ts')],
    bundle: true,
    packages: 'external',
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    logLevel: 'error',
    outfile: join(home, 'index.js'),
  })
  return home
}
