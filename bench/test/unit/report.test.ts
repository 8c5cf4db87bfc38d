import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { withRegions } from '../../../test/kit/docs/regions'
import { CONTENTS as CAPACITY } from '../../capacity/page'
import { CONTENTS as CYCLE } from '../../cycle/cycle'
import type { BenchRun } from '../../driver/run'
import { atRank, spreadOf } from '../../driver/statistics'
import { ratioOf } from '../../pairs/turns'
import { CONTENTS } from '../../report/page'
import { tables } from '../../report/tables'
import { LOCK_TARGETS, OBJECT_TARGETS, ratio, ratioToBest, valuesOf } from '../../report/targets'
import { readRun } from '../../results'
import { SCENARIOS } from '../../scenarios'
import { SUBJECTS } from '../../subjects/catalogue'

const RESULTS = join(__dirname, '../../results')
const PAGE = readFileSync(join(__dirname, '../../../docs/evidence/performance.md'), 'utf8')

type Arms = Readonly<Record<string, Readonly<Record<string, number>>>>

function runOf(scenario: string, rounds: readonly Arms[]): BenchRun {
  const measurements = rounds.flatMap((arms, index) =>
    Object.entries(arms).map(([subject, figures]) => {
      const troubles = Object.keys(figures).length > 0 ? [] : [{ kind: 'hangs' as const, text: 'no result' }]
      return { scenario, subject, round: index + 1, figures, troubles }
    }),
  )
  const machine = { cpu: 'a CPU', cores: 2, memoryGb: 4, kernel: '6.1', load: 0.5 }
  const about = { command: 'npm run bench', date: '2026-11-22T12:00:00.000Z', machine, versions: {} }
  return { ...about, rounds: rounds.length, seconds: 1.5, measurements }
}

const rate = (sectionsPerSecond: number) => ({ sectionsPerSecond })

describe('The report of the bench', () => {
  it('The spread of some values is their median, the least and the most', () => {
    expect(spreadOf([3, 1, 2])).to.deep.equal({ median: 2, least: 1, most: 3 })
    expect(spreadOf([4, 1, 2, 3])).to.deep.equal({ median: 2.5, least: 1, most: 4 })
    expect(spreadOf([])).to.equal(undefined)
  })

  it('A value at a rank is the one below which that part of the values lies', () => {
    const sorted = Array.from({ length: 100 }, (_, index) => index + 1)
    expect([0.5, 0.99, 1].map((part) => atRank(sorted, part))).to.deep.equal([50, 99, 100])
    expect(atRank([], 0.5)).to.be.NaN
  })

  it('A median of ratios has an interval that is narrow where there are many rounds', () => {
    const { median, low, high } = ratioOf(Array.from({ length: 10_001 }, (_, at) => at / 10_000))
    expect(median).to.equal(0.5)
    expect([low, high].map((each) => each.toFixed(2))).to.deep.equal(['0.49', '0.51'])
    expect(ratioOf([3, 1, 2])).to.deep.equal({ median: 2, low: 1, high: 3 })
  })

  it('A target takes ratios within each round, and shows the median, the range and the verdict', () => {
    const run = runOf('objects-one-caller', [
      { lock: rate(100), fenced: rate(95), mutex: rate(100), token: rate(50) },
      { lock: rate(200), fenced: rate(180), mutex: rate(100), token: rate(55) },
      { lock: rate(10), fenced: rate(8), mutex: rate(100), token: rate(60) },
    ])
    expect(CONTENTS.objects!(run)).to.match(/fenced.* 0\.90 \(0\.80–0\.95\) +\| ≥ 0\.9 met/)
    expect(tables(run)).to.match(/token.* 0\.55 \(0\.50–0\.60\) +\| ≥ 0\.95 MISSED/)
  })

  it('A target leaves out a round in which an arm failed, and the table says what the arm met', () => {
    const run = runOf('members', [
      { lock: rate(300), multi: rate(200) },
      { lock: rate(300), multi: {} },
    ])
    expect(CONTENTS.objects!(run)).to.match(/multi of 3 servers.* 1\.50 +\| ≤ 1\.5 met/)
    expect(tables(run)).to.contain('- multi lock of 3 servers: hangs: no result (in 1 of 2 rounds)')
    expect(CONTENTS.compare!(run)).to.equal(undefined)
  })

  it('A target compares with the best of two peers, round by round', () => {
    const arm = (sectionsPerSecond: number, waitP99Ms: number) => ({ sectionsPerSecond, waitP99Ms })
    const run = runOf('token-4x4', [
      { token: arm(9, 10), mutex: arm(5, 40), 'set-nx': arm(6, 100) },
      { token: arm(9, 10), mutex: arm(7, 50), 'set-nx': arm(6, 1_000) },
    ])
    const value = ratioToBest('token', ['mutex', 'set-nx'], 'waitP99Ms')
    expect(valuesOf(run, { scenario: 'token-4x4', value })).to.deep.equal([0.1, 0.2])
    expect(ratio('a', 'b')(() => undefined)).to.equal(undefined)
  })

  it('Every target names arms that its scenario has', () => {
    for (const { scenario, value, title } of [...LOCK_TARGETS, ...OBJECT_TARGETS]) {
      const arms = SCENARIOS.find(({ name }) => name === scenario)!.arms(SUBJECTS, false)
      const asked: string[] = []
      value((arm) => asked.push(arm))
      expect(
        arms.map(({ name }) => name),
        title,
      ).to.include.members(asked)
    }
  })

  it('The performance page shows what the kept results say, each region by its program', () => {
    const parsed = (file: string) => JSON.parse(readFileSync(join(RESULTS, file), 'utf8'))
    const runs = ['latest.json', 'objects.json'].map((file) => readRun(join(RESULTS, file)))
    const unknown: string[] = []
    const written = withRegions(PAGE, 'bench', (name) => {
      const content =
        runs.map((run) => CONTENTS[name]?.(run)).find((each) => each !== undefined) ??
        CAPACITY[name]?.(parsed('capacity.json')) ??
        CYCLE[name]?.(parsed('cycle.json'))
      if (content === undefined) unknown.push(name)
      return content
    })
    expect(unknown).to.deep.equal([])
    expect(written).to.equal(PAGE)
  })
})
