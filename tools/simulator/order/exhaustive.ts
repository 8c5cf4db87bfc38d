import { createHash } from 'node:crypto'
import { Stream } from '../../../packages/testing/src/simulation/choices'
import type { Event } from '../../../packages/testing/src/simulation/trace'
import { keptBy } from '../../../test/kit/left-in'
import { FAULTS } from '../faults'
import type { HistoryEvent } from '../judge/history'
import { judge } from '../judge/judge'
import type { ExhaustiveResult } from '../report/results'
import { type Order, type Outcome, runSchedule, type ScheduleOptions } from '../run-schedule'
import type { Scene } from '../scene'
import type { Stage } from '../stage'
import { tell } from '../story/text'
import { count, type Finding, findingsOf, type Totals } from '../totals'

/** Times that differ by less are one state: the order of events matters, and their times do so only for leases. */
const GRAIN = 100

/**
 * What the world is at this moment, as a hash: the keys, the counts of each client, what is under way on each connection, what
 * each caller has seen, and the order of what is planned. Ids count by their first appearance.
 */
export function stateOf(stage: Stage, possible: readonly Event[], faults: string): string {
  const { servers, clients, recorder } = stage
  const text = [
    faults,
    ...servers.map((server) => {
      server.engine.keyspace.time = server.time
      return server.engine.keyspace.describe()
    }),
    ...clients.map(({ isAlive, redissons, java }) =>
      isAlive ? JSON.stringify(java?.stats() ?? redissons.map((redisson) => keptBy(redisson))) : 'dead',
    ),
    ...clients.flatMap(({ isAlive, links }) =>
      isAlive ? links.flatMap(({ commands, messages }) => [commands.describe(), messages.describe()]) : [],
    ),
    ...historyByCaller(recorder.events),
    possible.length,
  ].join('\n')
  return createHash('sha1').update(withoutChance(text)).digest('base64')
}

/** Each caller has its own order; that of two callers shows in what they see. */
function historyByCaller(events: readonly HistoryEvent[]): string[] {
  const callers = new Map<number, string>()
  const seen = new Map<string, string[]>()
  for (const event of events) {
    if (event.type === 'call') callers.set(event.id, `${event.client}/${event.object.kind}`)
    const id =
      'id' in event ? event.id : event.type === 'told' || event.type === 'act' ? event.hold : undefined
    const caller = id === undefined ? undefined : callers.get(id)
    if (caller === undefined) continue
    const lines = seen.get(caller) ?? []
    seen.set(caller, lines)
    lines.push(event.type, 'error' in event ? event.error : 'ok' in event ? String(event.ok) : '')
  }
  return [...seen].map(([caller, lines]) => `${caller} ${lines.join(' ')}`).sort()
}

function withoutChance(text: string): string {
  const ids = new Map<string, number>()
  return text
    .replace(/[0-9a-f-]{16,}/g, (id) => {
      if (!ids.has(id)) ids.set(id, ids.size)
      return `id${ids.get(id)}`
    })
    .replace(/\d{3,}(\.\d+)?/g, (number) => String(Math.round(Number(number) / GRAIN)))
}

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

/** Priorities change within so many events of a run. */
const EVENTS = 2_000

/**
 * Probabilistic concurrency testing (Burckhardt and others, 2010): each process and each direction of a connection has a random
 * priority, and the highest that can go on does. At `depth - 1` random events the one that goes on falls below all others. So a
 * fault that needs few orderings, far apart, is met with a probability that is known.
 */
export class Priorities implements Order {
  private readonly chance: Stream
  private readonly priorities = new Map<unknown, number>()
  private readonly changes: ReadonlySet<number>
  private events = 0
  private lowest = 0

  constructor(depth: number, seed: number) {
    this.chance = new Stream(seed)
    this.changes = new Set(Array.from({ length: depth - 1 }, () => this.chance.choose(EVENTS)))
  }

  choose(possible: readonly Event[]): Event {
    let highest = possible[0]!
    for (const event of possible) if (this.priorityOf(event) > this.priorityOf(highest)) highest = event
    if (this.changes.has(this.events++)) this.priorities.set(highest.chain, --this.lowest)
    return highest
  }

  private priorityOf({ chain }: Event): number {
    let priority = this.priorities.get(chain)
    if (priority === undefined) {
      priority = this.chance.fraction()
      this.priorities.set(chain, priority)
    }
    return priority
  }
}
