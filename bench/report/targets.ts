import type { BenchRun, Measurement } from '../driver/run'
import { type Spread, spreadOf } from '../driver/statistics'

/** What an arm came to in one round; undefined where it was not measured or failed. */
type OfArm = (arm: string, figure: string) => number | undefined

/** What rlock is to reach; the median over the rounds counts. */
export interface Target {
  readonly scenario: string
  /** Of the row. */
  readonly title: string
  readonly value: (of: OfArm) => number | undefined
  readonly bound?: readonly ['≥' | '≤', number]
}

/** `name` of one arm as a part of the same of another, in one round: what slowed the machine down then slowed both. */
export function ratio(arm: string, other: string, name = 'sectionsPerSecond') {
  return (of: OfArm): number | undefined => {
    const [own, base] = [of(arm, name), of(other, name)]
    return own === undefined || !base ? undefined : own / base
  }
}

/** The same of the best of two peers: of that which does more sections. */
export function ratioToBest(arm: string, [one, another]: readonly [string, string], name: string) {
  return (of: OfArm): number | undefined => {
    const rate = (peer: string) => of(peer, 'sectionsPerSecond') ?? -1
    return ratio(arm, rate(one) > rate(another) ? one : another, name)(of)
  }
}

export function figure(arm: string, name: string) {
  return (of: OfArm): number | undefined => of(arm, name)
}

/** What is to cost nothing may differ by what two rounds differ. */
const NOTHING = 1.1

const target = (
  scenario: string,
  title: string,
  value: Target['value'],
  bound?: Target['bound'],
): Target => ({
  ...{ scenario, title, value },
  ...(bound && { bound }),
})

/** Of the plain lock: the title begins with the scenario. */
const lock = (scenario: string, what: string, value: Target['value'], bound: Target['bound']) =>
  target(scenario, `${scenario}: ${what}`, value, bound)

const ofLimit = ratio('rlock', 'limit')
const own = (name: string) => figure('rlock', name)
const far = (name: string, what: string) =>
  [0, 1, 5].map((ms) =>
    lock('far-process', `${what}, of its fair share, ${ms} ms farther away`, own(`${name}${ms}`), ['≥', 0.3]),
  )

export const LOCK_TARGETS: readonly Target[] = [
  lock('one-caller', 'of the limit', ofLimit, ['≥', 0.95]),
  lock('one-caller', 'of Java Redisson', ratio('rlock', 'java'), ['≥', 1.5]),
  lock('many-locks', 'of the limit', ofLimit, ['≥', 0.9]),
  lock('one-process', 'of the one-caller limit', ofLimit, ['≥', 1.6]),
  lock('one-process', 'overtaken', own('overtakenShare'), ['≤', 0]),
  lock('one-process', 'p99 wait, in turns', own('waitP99Turns'), ['≤', 2]),
  lock('four-processes', 'of the one-caller limit', ofLimit, ['≥', 1.5]),
  lock('four-processes', 'p99 wait, in turns', own('waitP99Turns'), ['≤', 8]),
  lock('four-processes', 'least process', own('leastProcessShare'), ['≥', 0.7]),
  ...far('leastShareAt', 'least process'),
  ...far('leastWriterShareAt', 'least writer'),
  lock('handoff', 'median, in round trips', own('handoffRoundTrips'), ['≤', 3]),
  lock('handoff', 'median, of Java’s', ratio('rlock', 'java', 'handoffP50Ms'), ['≤', 1]),
  lock('idle-waiters', 'commands a second in all', own('idleCommandsPerSecond'), ['≤', 1]),
]

const ALONE = 'objects-one-caller'
const ofBest = (name: string) => ratioToBest('token', ['mutex', 'set-nx'], name)
const ofLocks = ratio('permits', 'locks', 'renewalCommandsPerSecond')
const untilLast = ratio('latch', 'java', 'lastP50Ms')

export const OBJECT_TARGETS: readonly Target[] = [
  target(ALONE, 'fenced, one caller: of the plain lock’s rate', ratio('fenced', 'lock'), ['≥', 0.9]),
  target('fair-4x4', 'fair, 4 × 4: of Java’s rate', ratio('fair', 'java'), ['≥', 3]),
  target('fair-4x4', 'fair, 4 × 4: of the plain lock’s rate', ratio('fair', 'lock')),
  target('fair-16x1', 'fair, 16 × 1: of Java’s rate', ratio('fair', 'java'), ['≥', 3]),
  target('members', 'multi of 3 servers: time of one lock', ratio('lock', 'multi'), ['≤', 1.5]),
  target('members', 'red of 5 servers: time of one lock', ratio('lock', 'red'), ['≤', 1.6]),
  target('members', 'red, one server stopped: time of the same with all five', ratio('red', 'red-stalled'), [
    '≤',
    NOTHING,
  ]),
  target(ALONE, 'token, one caller: of redis-semaphore’s rate', ratio('token', 'mutex'), ['≥', 0.95]),
  target('token-4x4', 'token, 4 × 4: of the best of both', ofBest('sectionsPerSecond'), ['≥', 1.3]),
  target('token-4x4', 'token, 4 × 4: p99 wait, of that one’s', ofBest('waitP99Ms'), ['≤', 0.25]),
  target(ALONE, 'semaphore, one caller: of the no-op baseline', ratio('semaphore', 'no-op'), ['≥', 0.9]),
  target('semaphore-64', '64 callers on 8 permits: of Java’s rate', ratio('semaphore', 'java'), ['≥', 2]),
  target(
    'semaphore-64',
    '64 callers on 8 permits: of redis-semaphore’s rate',
    ratio('semaphore', 'redis-semaphore'),
    ['≥', 3],
  ),
  target(ALONE, 'expirable, one caller: of the no-op baseline', ratio('expirable', 'no-op'), ['≥', 0.8]),
  target('held', '10,000 permits held: commands a second, of that of 10,000 locks', ofLocks, ['≤', NOTHING]),
  target('latch', 'latch, 1,000 waiters: until the last is notified, of Java’s time', untilLast, ['≤', 1]),
]

export interface Judged {
  readonly target: Target
  /** Undefined where it was not measured. */
  readonly spread: Spread | undefined
  /** Undefined where it was not measured, or has no bound. */
  readonly met: boolean | undefined
}

export function judge(run: BenchRun, targets: readonly Target[]): Judged[] {
  return targets.map((target) => {
    const spread = spreadOf(valuesOf(run, target))
    if (!spread || !target.bound) return { target, spread, met: undefined }
    const [sign, bound] = target.bound
    return { target, spread, met: sign === '≥' ? spread.median >= bound : spread.median <= bound }
  })
}

/** A value for each round in which all that it needs was measured. */
export function valuesOf(
  { rounds, measurements }: Pick<BenchRun, 'rounds' | 'measurements'>,
  { scenario, value }: Pick<Target, 'scenario' | 'value'>,
): number[] {
  const measured = measurements.filter((one) => one.scenario === scenario)
  return Array.from({ length: rounds }, (_, index) => {
    const inRound = measured.filter(({ round }) => round === index + 1)
    return value((arm, name) =>
      numberOf(
        inRound.find(({ subject }) => subject === arm),
        name,
      ),
    )
  }).filter((each): each is number => each !== undefined)
}

/** JSON knows no NaN: such a figure comes back as null. */
function numberOf(one: Measurement | undefined, name: string): number | undefined {
  const found = one?.figures[name]
  return typeof found === 'number' && Number.isFinite(found) ? found : undefined
}
