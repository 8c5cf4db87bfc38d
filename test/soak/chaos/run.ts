import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { startStandalone } from '../../kit/servers/index'
import type { Disturbance } from './evidence/disturbances'
import { Judge } from './evidence/judge'
import { micros, RecordReader } from './evidence/records'
import { inject } from './faults/inject'
import type { World } from './faults/world'
import { type FaultKind, SPECS, type TopologyName } from './plan/catalogue'
import { nameAt, type ObjectKind, type Plans, plansOf } from './plan/objects'
import { type PlannedFault, schedule } from './plan/schedule'
import type { MutantName } from './worker/mutants'
import { EpochCount, KeyWatch } from './world/key-watch'
import { leftOver } from './world/leftovers'
import { ObjectWatch } from './world/object-watch'
import { openTopology } from './world/open-topology'
import type { Topology } from './world/topology'
import { type RunMachine, watchMachine } from './world/topology'
import { usersOf, Workforce } from './world/workforce'

export interface RunOptions {
  readonly topology: TopologyName
  readonly seed: number
  readonly lastsMs: number
  readonly java: boolean
  readonly nodeWorkers: number
  readonly mutant: MutantName | undefined
  readonly stopAtFirst: boolean
  /** The only faults to be drawn, or none for all. */
  readonly kinds: readonly FaultKind[]
  /** What takes part. */
  readonly objects: readonly ObjectKind[]
}

/** What a run shows while it lasts. */
export interface RunProgress {
  readonly judge: Judge
  readonly planned: number
  injected: number
  readonly begun: number
  present: string
  /** Faults that could not be injected, and why. */
  readonly failed: string[]
}

export interface RunResult {
  readonly options: RunOptions
  readonly judge: Judge
  readonly injected: number
  readonly failed: readonly string[]
  readonly tookMs: number
  readonly machine: RunMachine
}

/** Every turn that is under way ends within this: a dead holder's lease, and then the queue. */
const ENDS_WITHIN = 90_000

/** One run over one topology: starts everything, breaks what the schedule says, judges, ends everything. */
export async function run(
  options: RunOptions,
  onProgress: (progress: RunProgress) => void,
): Promise<RunResult> {
  const begun = micros()
  const evidence = await startStandalone()
  const topology = await openTopology(options.topology, usersOf(options.nodeWorkers))
  const plans = plansOf(options.objects)
  const { locks, objects } = plans
  const judge = new Judge(plans, (kind, worker) => {
    if (kind === 'stuck' || kind === 'asleep') workforce.describe(worker)
  })
  const epochs = new EpochCount((next) => workforce.nextEpoch(next))
  const redis = new Redis(evidence.url)
  const machine = await watchMachine(redis, options.java)
  const reader = new RecordReader(redis, (record) => judge.record(record))
  const workforce = await Workforce.hire({
    ...options,
    ...{ topology, judge, locks, objects, evidenceUrl: evidence.url },
    epochs: () => epochs.now,
  })
  const watch = new KeyWatch(topology, locks, judge, workforce.namesByClientId)
  const objectWatch = new ObjectWatch(topology, objects, judge, () => epochs.now)
  let kept = 0
  let breaking = true
  const looking = setInterval(() => {
    judge.look(micros())
    if (!breaking || judge.tally.doubleCountsOfJava.size === kept) return
    kept = judge.tally.doubleCountsOfJava.size
    void freeFromJava(workforce, judge)
  }, 1_000)
  watchFailovers(topology, judge, epochs)
  const faults = schedule({
    ...options,
    lockWatchdogTimeout: topology.lockWatchdogTimeout,
    locks: locks.length + objects.length,
  })
  const progress: RunProgress = {
    judge,
    planned: faults.length,
    injected: 0,
    begun: micros(),
    present: '',
    failed: [],
  }
  onProgress(progress)
  try {
    reader.start()
    workforce.start()
    watch.start()
    objectWatch.start()
    const world: World = {
      ...{ topology, workforce, locks, epochs },
      nameOf: (index) => nameOf(plans, index),
    }
    await breakThings(world, faults, options, progress)
    breaking = false
    await workforce.settled()
    let left: Awaited<ReturnType<typeof leftOver>> | undefined
    if (options.stopAtFirst && judge.violations.length > 0) await workforce.dismiss()
    else {
      progress.present = 'quiet: everybody comes to an end'
      left = await leftOver({ topology, workforce, judge, locks, watch, endsWithinMs: ENDS_WITHIN })
    }
    watch.stop()
    objectWatch.stop()
    await reader.stop()
    judge.finish(micros(), left)
  } finally {
    watch.stop()
    objectWatch.stop()
    clearInterval(looking)
    await workforce.dismiss()
    redis.disconnect()
    await Promise.all([topology.stop(), evidence.stop()])
  }
  return {
    options,
    judge,
    injected: progress.injected,
    failed: progress.failed,
    tookMs: (micros() - begun) / 1000,
    machine: machine(),
  }
}

/** Of the locks first, then of the objects, by the name of their first generation. */
function nameOf({ locks, objects }: Plans, index: number): string {
  return locks[index]?.name ?? nameAt(objects[index - locks.length]!.name, 0)
}

/** Otherwise only that thread would come in for the rest of the run. */
async function freeFromJava(workforce: Workforce, judge: Judge): Promise<void> {
  const disturbance = judge.disturbances.begin('kill-java', workforce.java?.name, micros())
  try {
    await workforce.replaceJava()
  } catch {
    // The run is ending.
  } finally {
    disturbance.to = micros()
  }
}

/** What replaces a primary. */
const REPLACING: readonly FaultKind[] = ['failover', 'kill-primary', 'replace-unheard']

/** Paused for too long, a primary is replaced though no plan ordered it: as much a fault as one that was planned. */
function watchFailovers(topology: Topology, judge: Judge, epochs: EpochCount): void {
  let unplanned: Disturbance | undefined
  topology.onFailover?.(
    () => {
      const planned = judge.disturbances.all.some(
        ({ kind, to }) => REPLACING.includes(kind) && to === Number.POSITIVE_INFINITY,
      )
      if (!planned) unplanned = judge.disturbances.begin('failover', undefined, micros())
    },
    () => {
      if (unplanned) {
        unplanned.to = micros()
        void epochs.dataLost()
      }
      unplanned = undefined
    },
  )
}

async function breakThings(
  world: World,
  faults: readonly PlannedFault[],
  { stopAtFirst, lastsMs }: RunOptions,
  progress: RunProgress,
): Promise<void> {
  const { judge, begun } = progress
  const passed = () => (micros() - begun) / 1000
  const over = () => passed() > lastsMs || (stopAtFirst && judge.violations.length > 0)
  let underWay: Promise<unknown> = Promise.resolve()
  for (const fault of faults) {
    if (!fault.together) await underWay
    while (passed() < fault.at && !over()) await sleep(Math.min(100, Math.max(1, fault.at - passed())))
    if (over()) break
    const one = injectAndTell(world, fault, progress)
    underWay = Promise.all([underWay, one])
  }
  await underWay
  while (!over()) await sleep(100)
}

async function injectAndTell(world: World, fault: PlannedFault, progress: RunProgress): Promise<void> {
  const { judge } = progress
  const { worker, feltByAll } = SPECS[fault.kind]
  const target = worker ? world.workforce.networkOf(fault.worker)?.name : undefined
  const java = world.workforce.java?.name
  const feltBy = feltByAll ? undefined : (target ?? (fault.kind.endsWith('-java') ? java : undefined))
  let disturbance = judge.disturbances.begin(fault.kind, feltBy, micros(), target)
  progress.present = `${fault.kind}${target ? ` (${target})` : ''}`
  const nodeGoesOn = () => {
    disturbance.to = micros()
    disturbance = judge.disturbances.begin(fault.kind, java ?? 'java', micros())
  }
  try {
    await inject(world, fault, nodeGoesOn)
    progress.injected++
    judge.tally.injected(fault.kind)
  } catch (error) {
    // Sentinels that do not come to terms, say; what was done of it stays under the judge's eyes.
    progress.failed.push(`${fault.kind}: ${(error as Error).message}`)
  } finally {
    disturbance.to = micros()
    if (SPECS[fault.kind].losesData) void world.epochs.dataLost()
    if (fault.kind === 'kill-worker') world.epochs.workerKilled()
  }
}
