import type { Judge } from '../evidence/judge'
import { micros } from '../evidence/records'
import { processOf } from '../evidence/sections'
import type { LockPlan, ObjectPlan } from '../plan/objects'
import type { Epochs, WorkerSetup } from '../worker/messages'
import type { MutantName } from '../worker/mutants'
import { JavaWorker } from './java-worker'
import { Network } from './network'
import { NodeWorker } from './node-worker'
import { JAVA, loginOf, restoreRights } from './rights'
import type { Topology } from './topology'

export interface WorkforceOptions {
  readonly topology: Topology
  readonly judge: Judge
  readonly evidenceUrl: string
  readonly locks: readonly LockPlan[]
  readonly nodeWorkers: number
  readonly java: boolean
  readonly seed: number
  readonly mutant: MutantName | undefined
  readonly objects: readonly ObjectPlan[]
  epochs(): Epochs
}

const nodeNames = (count: number): string[] => Array.from({ length: count }, (_, i) => `node-${i + 1}`)

/** How far the Node workers are from the servers, in ms each way, one after the other: the near ones must not starve the far. */
const DISTANCES = [0, 1, 5]
const distanceOf = (worker: string): number =>
  DISTANCES[nodeNames(DISTANCES.length).indexOf(processOf(worker))] ?? 0

/** The user name with which the workers log in. */
export const usersOf = (nodeWorkers: number): string[] => [...nodeNames(nodeWorkers), JAVA]

/** The processes that take the locks. One that was killed is succeeded by another of its own name. */
export class Workforce {
  readonly node: NodeWorker[] = []
  java: JavaWorker | undefined
  /** The names of all there ever were, by the first part of their owner fields. */
  readonly namesByClientId = new Map<string, string>()
  private successors = 0
  private replacing: Promise<void> = Promise.resolve()

  private constructor(private readonly options: WorkforceOptions) {}

  static async hire(options: WorkforceOptions): Promise<Workforce> {
    const workforce = new Workforce(options)
    const [java, ...node] = await Promise.all([
      options.java ? workforce.startJava(JAVA) : undefined,
      ...nodeNames(options.nodeWorkers).map((name) => workforce.startNode(name)),
    ])
    workforce.java = java
    workforce.node.push(...node)
    return workforce
  }

  start(): void {
    for (const worker of this.node) worker.send({ do: 'start' })
    this.java?.begin()
  }

  /** The worker of that number; the one after the last is Java's. */
  networkOf(index: number): { name: string; network: Network } | undefined {
    const worker = this.node[index] ?? this.java
    return worker && { name: worker.name, network: worker.network }
  }

  networks(): Network[] {
    return [...this.node, this.java].flatMap((worker) => worker?.network ?? [])
  }

  /** Has a worker say on its stderr what its waiters wait for. */
  describe(name: string): void {
    this.node.find((worker) => worker.name === name)?.send({ do: 'describe' })
  }

  /** From now on the next generation of objects is in use. */
  nextEpoch(epochs: Epochs): void {
    for (const worker of this.node) worker.send({ do: 'epoch', epochs })
  }

  replaceNode(index: number): Promise<void> {
    return this.replaceInTurn(() => this.replaceNodeNow(index))
  }

  replaceJava(): Promise<void> {
    return this.replaceInTurn(() => this.replaceJavaNow())
  }

  /** Resolves when no worker is being replaced. */
  async settled(): Promise<void> {
    await this.replacing
  }

  /** One after the other, whichever part asks for it: two successors of one worker would both work, and one be forgotten. */
  private replaceInTurn(replace: () => Promise<void>): Promise<void> {
    const replaced = this.replacing.then(replace)
    this.replacing = replaced.catch(() => {})
    return replaced
  }

  private async replaceNodeNow(index: number): Promise<void> {
    const old = this.node[index]!
    await old.kill()
    this.options.judge.workerKilled(old.name, micros())
    await old.network.close()
    const successor = await this.startNode(this.successorOf(old.name))
    this.node[index] = successor
    successor.send({ do: 'start' })
  }

  private async replaceJavaNow(): Promise<void> {
    const old = this.java!
    await old.kill()
    this.options.judge.workerKilled(old.name, micros())
    await old.network.close()
    this.java = await this.startJava(this.successorOf(old.name))
    this.java.begin()
  }

  async dismiss(): Promise<void> {
    await Promise.all([...this.node.map((worker) => worker.kill()), this.java?.kill()])
    await Promise.all(this.networks().map((network) => network.close()))
  }

  private successorOf(name: string): string {
    return `${processOf(name)}'${++this.successors}`
  }

  private async startNode(worker: string): Promise<NodeWorker> {
    const { topology, evidenceUrl, locks, seed, mutant, judge, objects, epochs } = this.options
    // Whatever was taken from the one before it.
    await restoreRights(topology.nodes, worker)
    const network = await Network.open(topology, loginOf(worker), distanceOf(worker))
    const setup: WorkerSetup = {
      ...{ worker, seed, evidenceUrl, locks, mutant, objects },
      epochs: epochs(),
      redis: network.route.node,
      lockWatchdogTimeout: topology.lockWatchdogTimeout,
    }
    const started = await NodeWorker.start(setup, network, {
      died: (why) => judge.violation('unexpected', micros(), why, worker),
      complained: (message, at) => judge.complained(worker, message, at),
    })
    this.namesByClientId.set(started.clientId, worker)
    return started
  }

  private async startJava(worker: string): Promise<JavaWorker> {
    const { topology, evidenceUrl, locks } = this.options
    const { lockWatchdogTimeout } = topology
    const setup = { worker, lockWatchdogTimeout, evidenceUrl, locks }
    await restoreRights(topology.nodes, worker)
    const started = await JavaWorker.start(
      setup,
      await Network.open(topology, loginOf(worker), distanceOf(worker)),
    )
    this.namesByClientId.set(started.clientId, worker)
    return started
  }
}
