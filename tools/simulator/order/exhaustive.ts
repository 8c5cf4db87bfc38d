import type { Event } from '../../../packages/testing/src/simulation/timeline'
import { FAULTS } from '../faults'
import { type Finding, findingsOf } from '../findings'
import { judge } from '../judge/judge'
import type { ExhaustiveResult } from '../report/results'
import { type Order, type Outcome, runSchedule, type ScheduleOptions } from '../run-schedule'
import type { Scene } from '../scene'
import type { Stage } from '../stage'
import { tell } from '../story/text'
import { count, type Totals } from '../totals'
import { stateOf } from './state'

const MOST_FAULTS = 2
const MOST_SHOWN = 3
/** Each for the first client and the second one. */
const SMALL_FAULTS = FAULTS.filter(({ kind }) => ['cut before', 'cut after', 'kill'].includes(kind))
/** All that is drawn takes its default: the order decides everything. */
const NOTHING_DRAWN = { has: () => true, size: 1 } as unknown as ReadonlySet<string>
const SEED = 1

/** Choices from the last to the first. Paths share their beginnings. */
interface Path {
  readonly choice: number
  readonly before: Path | undefined
}

function choicesOf(path: Path | undefined): number[] {
  const choices: number[] = []
  for (let at = path; at; at = at.before) choices.push(at.choice)
  return choices.reverse()
}

/** What is known of one small world. */
class Explored {
  readonly states = new Set<string>()
  /** Orders to run, by the number of faults in them. */
  readonly toRun: (Path | undefined)[][] = [[undefined], [], []]
}

/** Repeats a path, and goes on with the first choice until it meets a state that is known. */
class OnePath implements Order {
  private stage: Stage | undefined
  private readonly path: readonly number[]
  private taken: Path | undefined
  private depth = 0
  private readonly faults: string[] = []
  private readonly own = new Set<string>()

  constructor(
    private readonly explored: Explored,
    path: Path | undefined,
  ) {
    this.path = choicesOf(path)
  }

  begin(stage: Stage): void {
    this.stage = stage
  }

  end(): void {
    this.stage = undefined
  }

  choose(possible: readonly Event[]): Event | undefined {
    const { stage, explored, faults, depth } = this
    if (!stage) return possible[0]
    const mayFail = faults.length < MOST_FAULTS && stage.clients.every(({ isAlive }) => isAlive)
    const options = possible.length + (mayFail ? 2 * SMALL_FAULTS.length : 0)
    if (options === 1) return possible[0]
    const isNew = depth >= this.path.length
    if (isNew) {
      const state = stateOf(stage, possible, faults.join())
      // A state of its own path again: time passed, and nothing else that shows. Only another run has been on from there.
      const isOwn = this.own.has(state)
      if (explored.states.has(state) && !isOwn) return undefined
      explored.states.add(state)
      this.own.add(state)
      for (let choice = options - 1; choice > 0 && !isOwn; choice--) {
        const more = choice >= possible.length ? 1 : 0
        explored.toRun[faults.length + more]!.push({ choice, before: this.taken })
      }
    }
    const choice = isNew ? 0 : this.path[depth]!
    this.depth++
    this.taken = { choice, before: this.taken }
    return choice < possible.length ? possible[choice] : this.fault(stage, choice - possible.length)
  }

  /** A fault happens as an event of its own. */
  private fault(stage: Stage, option: number): Event {
    const [which, client] = [option >> 1, option & 1]
    const { kind, inject } = SMALL_FAULTS[which]!
    this.faults.push(`${kind} ${client}`)
    // The first draw picks the client. The others take the connection of commands.
    let draws = 0
    const next = (options: number) => Math.min(options - 1, draws++ === 0 ? client : 0)
    const chooser = {
      choose: next,
      pick: <T>(elements: readonly T[]): T => elements[next(elements.length)]!,
    }
    return stage.world.between(stage.world.time, stage.world.time, undefined, {}, () =>
      inject(stage, chooser),
    )
  }
}

/** Runs every order of a small world, those with fewer faults first, until all are run or the bound is met. */
export async function explore(
  world: Scene,
  most: number,
  totals: Totals,
  shows = false,
): Promise<ExhaustiveResult> {
  const explored = new Explored()
  let violations = 0
  for (let runs = 0; runs < most; runs++) {
    const next = explored.toRun.find((paths) => paths.length > 0)
    if (!next) break
    const path = next.pop()
    const outcome = await runSchedule(world, SEED, optionsOf(explored, path))
    const findings = findingsOf(outcome)
    count(totals, outcome, findings.length > 0)
    if (findings.length > 0 && ++violations <= MOST_SHOWN && shows)
      show(
        world,
        await runSchedule(world, SEED, { ...optionsOf(new Explored(), path), isRecorded: true }),
        findings,
      )
  }
  const left = explored.toRun.findIndex((paths) => paths.length > 0)
  const complete = left < 0 ? MOST_FAULTS : left > 0 ? left - 1 : undefined
  return { world: world.name, states: explored.states.size, complete, violations }
}

const optionsOf = (explored: Explored, path: Path | undefined): ScheduleOptions => ({
  leftOut: NOTHING_DRAWN,
  order: new OnePath(explored, path),
})

function show({ name }: Scene, { history, trace }: Outcome, findings: readonly Finding[]) {
  const [scene] = name.split(' with ')
  console.log(`violation: small world ${name} (npm run simulate -- --exhaustive --scene ${scene})`)
  for (const { rule, at, what } of findings) console.log(`  ${Math.round(at)} ms ${rule}: ${what}`)
  console.log(tell(history, judge(history)[0], trace))
}
