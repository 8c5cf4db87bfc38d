import { expect } from 'chai'
import { GROUPS } from '../../objects/groups'
import { parseOptions } from '../../objects/options'
import { contentOf, screen } from '../../objects/report/page'
import type { ArmMeasurement, GroupResults, ObjectsResults } from '../../objects/results'
import { TARGETS } from '../../objects/rows'
import { judge, type ObjectTarget, ratio, ratioToBest } from '../../objects/targets'

function group(rounds: readonly Readonly<Record<string, Record<string, number>>>[]): GroupResults {
  const measurements = rounds.flatMap((arms, index) =>
    Object.entries(arms).map(([arm, figures]): ArmMeasurement => {
      const troubles = Object.keys(figures).length > 0 ? [] : [{ kind: 'hangs' as const, text: 'no result' }]
      return { arm, round: index + 1, figures, troubles }
    }),
  )
  return {
    command: 'npm run bench:objects',
    date: '2026-11-22T12:00:00.000Z',
    machine: { cpu: 'a CPU', cores: 2, memoryGb: 4, kernel: '6.1', load: 0.5 },
    versions: { node: 'v20' },
    rounds: rounds.length,
    seconds: 1.5,
    measurements,
  }
}

const rate = (sectionsPerSecond: number) => ({ sectionsPerSecond })

/** Of the rows of the page those of one object, without padding. */
function rowsOf(results: ObjectsResults, object: string): string[] {
  return contentOf(results, 'objects')!
    .split('\n')
    .filter((line) => line.startsWith(`| ${object}`))
    .map((line) => line.replace(/ +/g, ' '))
}

describe('The page of npm run bench:objects', () => {
  it('The objects page takes ratios within each round, and shows the median, the range and the verdict', () => {
    const results = {
      'one-caller': group([
        { lock: rate(100), fenced: rate(95), 'non-reentrant': rate(50) },
        { lock: rate(200), fenced: rate(180), 'non-reentrant': rate(110) },
        { lock: rate(10), fenced: rate(8), 'non-reentrant': rate(6) },
      ]),
    }
    expect(rowsOf(results, 'fenced')).to.deep.equal([
      '| fenced, one caller: of the plain lock’s rate | 0.90 (0.80–0.95) | ≥ 0.9 met |',
    ])
    expect(screen(results)).to.match(/non-reentrant.* 0\.55 \(0\.50–0\.60\) +\| ≥ 0\.9 MISSED/)
  })

  it('The objects page leaves out a round in which an arm failed, and says what the arm met', () => {
    const results = {
      members: group([
        { lock: rate(300), multi: rate(200) },
        { lock: rate(300), multi: {} },
      ]),
    }
    expect(rowsOf(results, 'multi of 3 servers')[0]).to.contain('| 1.50 | ≤ 1.5 met |')
    expect(screen(results)).to.contain('- multi lock of 3 servers: hangs: no result (in 1 of 2 rounds)')
  })

  it('The objects table says which rows were not measured', () => {
    expect(rowsOf({}, 'fenced')[0]).to.contain('| – | ≥ 0.9 not measured |')
    expect(contentOf({}, 'objects-run')).to.equal('Not measured yet.')
    expect(contentOf({}, 'compare')).to.equal(undefined)
  })

  it('The objects page compares with the best of several peers, round by round', () => {
    const target: ObjectTarget = {
      object: '',
      what: '',
      group: 'token-4x4',
      value: ratioToBest('token', ['mutex', 'set-nx'], 'waitP99Ms', 'sectionsPerSecond'),
      atMost: 0.25,
    }
    const arm = (sectionsPerSecond: number, waitP99Ms: number) => ({ sectionsPerSecond, waitP99Ms })
    const results = {
      'token-4x4': group([
        { token: arm(9, 10), mutex: arm(5, 40), 'set-nx': arm(6, 100) },
        { token: arm(9, 10), mutex: arm(7, 50), 'set-nx': arm(6, 1_000) },
      ]),
    }
    const [judged] = judge([target], results)
    expect(judged!.spread!.least).to.be.closeTo(0.1, 1e-9)
    expect(judged!.spread!.most).to.be.closeTo(0.2, 1e-9)
    expect(judged!.met).to.equal(true)
    expect(ratio('a', 'b')(() => undefined)).to.equal(undefined)
  })

  it('Every target of npm run bench:objects names arms that its group has', () => {
    for (const { group: name, value, object } of TARGETS) {
      const arms = GROUPS.find((one) => one.name === name)!.arms.map((arm) => arm.name)
      const asked: string[] = []
      value((arm) => {
        asked.push(arm)
        return 1
      })
      expect(arms, object).to.include.members(asked)
    }
  })

  it('npm run bench:objects shows on the screen only the measured objects', () => {
    const text = screen({
      latch: group([{ latch: { lastP50Ms: 5, lastMaxMs: 9 }, java: { lastP50Ms: 10, lastMaxMs: 20 } }]),
    })
    expect(text).to.contain('0.50').and.to.contain('1,000 waiters')
    expect(text).not.to.contain('fenced')
  })

  it('npm run bench:objects takes groups by their names, and nothing that makes no sense', () => {
    expect(parseOptions(['--only', 'latch'])!.groups.map(({ name }) => name)).to.deep.equal(['latch'])
    expect(parseOptions([])).to.include({ quick: false, rounds: undefined, keepAwake: false, report: false })
    expect(parseOptions(['--keep-awake'])).to.include({ keepAwake: true })
    expect(parseOptions(['--quick'])).to.include({ quick: true, rounds: 1 })
    expect(parseOptions(['--rounds', '2'])).to.include({ rounds: 2 })
    expect(parseOptions(['--report'])).to.include({ report: true })
    expect(parseOptions(['--help'])).to.equal(undefined)
    for (const args of [
      '--only none',
      '--rounds 0',
      '--json=',
      '--report --only latch',
      '--report --keep-awake',
      '--unknown',
    ])
      expect(() => parseOptions(args.split(' ')), args).to.throw()
  })
})
