import { scriptMachine } from '../../packages/testing/src/lua/script-machine'
import type { Choice, Stream } from '../../packages/testing/src/simulation/choices'
import type { Scheduler } from '../../packages/testing/src/simulation/trace'
import { type End, World } from '../../packages/testing/src/simulation/world'
import { keptBy } from '../../test/kit/left-in'
import { FAULTS } from './faults'
import type { Ended, History } from './judge/history'
import { KeyWatch } from './key-watch'
import { Recorder } from './recorder'
import type { Scene } from './scene'
import { type LiveClient, Stage } from './stage'

export interface ScheduleOptions {
  readonly isRecorded?: boolean
  /** Choices that take their default instead. */
  readonly leftOut?: ReadonlySet<string>
  readonly order?: Order
  /** A run with more events is judged as far as it came. Default: MOST_EVENTS. */
  readonly mostEvents?: number
}

/** Decides the order of events. It may stop a run, which is judged as far as it came. */
export interface Order extends Scheduler {
  /** Callers begin. */
  begin?(stage: Stage): void
  /** All callers have ended. */
  end?(): void
}

/** What one schedule did. */
export interface Outcome {
  readonly history: History
  readonly hash: string
  readonly sections: number
  /** By kind. */
  readonly faults: ReadonlyMap<string, number>
  readonly virtualMs: number
  /** Whether it was judged only as far as it came, because it had too many events. */
  readonly isCut: boolean
  /** What the world itself found: an error without a handler, a run that never ended, real time that was asked for. */
  readonly mishaps: readonly { readonly at: number; readonly message: string; readonly stack: string }[]
  readonly choices: readonly Choice[]
  readonly trace: readonly string[]
}

/**
 * A run with more events is judged as far as it came. Spin locks that are held for minutes may have so many, and RedLocks that many
 * callers want.
 */
export const MOST_EVENTS = 100_000
/** So many events within this virtual time, in ms, are none of this package: it would ask the server without a pause. */
const WITHOUT_REST = 100_000
/** After this virtual time a run has hung, in ms. */
const LONGEST_RUN = 3_600_000
/** At the end all leases, retries and recovery are over after this time, in ms. */
const SETTLED_AFTER = 120_000

const FAILURES: Partial<Record<End, string>> = {
  stuck: 'Callers wait, and nothing is left to happen',
  late: 'The run did not end',
  restless: `The run does not come to rest: ${MOST_EVENTS} events in less than ${WITHOUT_REST} ms`,
}

/** Runs one schedule: all that the seed says. */
export async function runSchedule(
  scene: Scene,
  seed: number,
  options: ScheduleOptions = {},
): Promise<Outcome> {
  const machine = await scriptMachine()
  const world = new World({ seed, ...options, scheduler: options.order })
  const recorder = new Recorder(world)
  const stage = new Stage(world, scene, recorder, machine)
  new KeyWatch(world, recorder, stage.servers, stage.plan.objects)
  const unhandled = (error: unknown) => world.failed(error)
  // The stack of an error costs more than a section, and only a story tells it.
  const { stackTraceLimit } = Error
  if (!options.isRecorded) Error.stackTraceLimit = 0
  process.on('unhandledRejection', unhandled)
  let isCut = false
  try {
    const end = await world.run(
      () => play(stage, options.order),
      LONGEST_RUN,
      options.mostEvents ?? MOST_EVENTS,
    )
    const hasJava = stage.clients.some(({ java }) => java)
    // A failover may bring the hold of a Java thread back that has released it. Its next lock() counts on, and Java renews for
    // ever what is left.
    const isLeftByJava = end === 'late' && hasJava && recorder.faults.has('failover')
    isCut = (end === 'restless' && world.time > WITHOUT_REST) || isLeftByJava
    const what = isCut ? undefined : FAILURES[end]
    if (what) world.failed(new Error(what))
  } finally {
    process.off('unhandledRejection', unhandled)
    Error.stackTraceLimit = stackTraceLimit
  }
  return {
    history: {
      ...{ scene: scene.name, seed, objects: recorder.objects, events: recorder.events },
      limits: {
        ...{ latency: 5, watchdogTimeout: stage.settings.watchdogTimeout, drift: 0.001 },
        longestLease: Math.max(...stage.settings.leases),
      },
    },
    hash: world.trace.hash,
    sections: recorder.sections,
    faults: recorder.faults,
    virtualMs: world.time,
    isCut,
    mishaps: world.mishaps.map(({ at, error }) => ({ at, message: error.message, stack: error.stack ?? '' })),
    choices: world.choices.made,
    trace: world.trace.lines,
  }
}

async function play(stage: Stage, order: Order | undefined): Promise<void> {
  const { world, settings, plan } = stage
  const clients = await Promise.all(Array.from({ length: settings.clients }, () => stage.open()))
  await plan.begin?.(stage.caller(clients[0]!, 100))
  const javas = await Promise.all(Array.from({ length: stage.javaClients() }, () => stage.openJava()))
  order?.begin?.(stage)
  for (const client of [...clients, ...javas]) stage.play(client)
  const faults = new RandomFaults(stage, world.choices.stream('faults'))
  if (stage.scene.hasFaults !== false) faults.planNext()
  await stage.idle()
  order?.end?.()
  faults.stop()
  await settle(stage)
}

/** Injects faults one after the other until it is stopped. */
class RandomFaults {
  private left: number
  private readonly gap: number

  constructor(
    private readonly stage: Stage,
    private readonly choices: Stream,
  ) {
    this.left = [0, 2, 6, 15][choices.weigh([2, 3, 3, 2])]!
    this.gap = choices.pick([300, 30, 2_000])
  }

  planNext(): void {
    if (this.left-- <= 0) return
    this.stage.world.in(this.choices.choose(this.gap) + 1, undefined, () => {
      if (this.left < 0) return
      this.inject()
      this.planNext()
    })
  }

  stop(): void {
    this.left = -1
  }

  private inject() {
    const { stage, choices } = this
    const possible = FAULTS.filter(({ needsReplica }) => !needsReplica || stage.settings.hasReplica)
    // The default is no fault.
    const drawn = choices.weigh([0, ...possible.map(({ weight }) => weight)])
    if (drawn === 0 || !stage.clients.some(({ isAlive }) => isAlive)) return
    possible[drawn - 1]!.inject(stage, choices)
  }
}

/** All faults end; clients shut down, leases run out; nothing may be left. */
async function settle(stage: Stage): Promise<void> {
  const { world, recorder, servers } = stage
  const sleep = (ms: number) => new Promise<void>((resolve) => void world.in(ms, undefined, resolve))
  await sleep(SETTLED_AFTER)
  const living = stage.clients.filter(({ isAlive }) => isAlive)
  const left = living.map((client) => ({
    client: client.name,
    left: client.isClosing ? {} : statsOf(client),
  }))
  for (const { name } of living) recorder.client(name, 'shut-down')
  await Promise.all(
    living.flatMap(({ redissons }) => redissons.map((redisson) => redisson.shutdown({ timeout: 0 }))),
  )
  for (const { name } of living) recorder.client(name, 'closed')
  await sleep(SETTLED_AFTER)
  const end: Ended = {
    ...{ type: 'end', at: world.time },
    keys: servers.flatMap((server) => {
      const { keyspace } = server.engine
      keyspace.time = server.time
      return keyspace.keys().map((key) => ({ server: server.name, key, ttl: keyspace.timeToLive(key) }))
    }),
    channels: servers.flatMap((server) =>
      [...server.subscriptions()].flatMap((channels) =>
        [...channels.keys()].map((channel) => ({ server: server.name, channel, subscribers: 1 })),
      ),
    ),
    clients: left.map((client) => {
      const { process } = living.find(({ name }) => name === client.client)!
      const timers = world.plannedFor(process)
      return { ...client, left: { ...client.left, ...(timers > 0 ? { timers } : {}) } }
    }),
  }
  recorder.note(end)
}

function statsOf({ redissons }: LiveClient): Record<string, number> {
  const left: Record<string, number> = {}
  for (const redisson of redissons)
    for (const [name, count] of Object.entries(keptBy(redisson)))
      if (count > 0) left[name] = (left[name] ?? 0) + count
  return left
}
