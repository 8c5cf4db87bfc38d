// biome-ignore-all lint/complexity/useLiteralKeys: outside of the class only this form reads what is private.
// One of the Node workers of a chaos run. It judges nothing: it records.
import { inspect } from 'node:util'
import { Redisson } from '../../../../src/index'
import type { WaitQueue } from '../../../../src/waiting/wait-queue'
import { internalsOf } from '../../../kit/internals'
import { leftIn } from '../../../kit/left-in'
import { micros, type Side } from '../evidence/records'
import { callersOfObjects } from '../workloads/callers-of'
import { Generation } from '../workloads/turns'
import { Caller, type Surroundings } from './caller'
import { EvidenceWriter } from './evidence-writer'
import { joinAtOnce } from './join-at-once'
import type { FromWorker, ToWorker, WorkerSetup } from './messages'
import { mutated } from './mutants'

/** The queues of a client and what it listens to, as far as that helps to see why somebody sleeps. */
export function describeWaiting(redisson: Redisson): string {
  // Private members by their names in brackets, so that the compiler tells of a name that changes.
  const waiting = [...internalsOf(redisson).queues['queues']].map(([id, queue]) => ({
    lock: id,
    waiting: [...queue].length,
    phase: queue['phase'],
    confirmed: queue['isConfirmed'],
    cohort: queue['cohort'],
    first: firstOf(queue),
  }))
  // biome-ignore lint/suspicious/noExplicitAny: connections of several classes
  const { client } = redisson as any
  const { transport: commands } = client.connections
  const senders = [...(commands.senders ?? [])].map(([name, sender]) => ({
    name,
    status: sender.redis.status,
    busy: sender.busy,
    queued: sender.queue.length,
    sent: sender.sent,
  }))
  const { state } = commands
  const source = client.subscriptions.source
  const subscriber = source.redis ? { status: source.redis.status, channels: source.channels } : source.routes
  return inspect(
    { state, queues: waiting, senders, subscriber, now: client.clock.now() },
    { depth: 6, breakLength: 140 },
  )
}

function firstOf(queue: WaitQueue) {
  const waiter = queue.first
  if (!waiter) return undefined
  const { attempt, joined, isTrying, isOverdue } = waiter
  const [inFlight, isUncertain] = [waiter['inFlight'], waiter['isUncertain']]
  const { waitTime } = attempt
  const trying = inFlight && {
    command: inFlight['command'],
    started: inFlight.started,
    last: inFlight.lastError?.message,
  }
  return { joined, waitTime, isTrying, isOverdue, isUncertain, trying }
}

/** What a contract page says may happen under faults; everything else is a bug. */
const KNOWN_CODES = [
  'LOCK_LOST',
  'LOCK_NOT_REPLICATED',
  'LOCK_QUORUM',
  'PERMIT_NOT_HELD',
  'REDIS_UNAVAILABLE',
  'REDIS_REFUSED',
]

const START_AGAIN_AFTER = 500
const GIVE_UP_AFTER = 30_000

/** `create()` rejects where the server refuses it, in the middle of a fault. What supervises a service starts it again. */
async function startedAgain<T>(create: () => Promise<T>): Promise<T> {
  for (const began = performance.now(); ; )
    try {
      return await create()
    } catch (error) {
      const isAway = (error as { code?: unknown }).code === 'REDIS_UNAVAILABLE'
      if (!isAway || performance.now() - began > GIVE_UP_AFTER) throw error
      await new Promise((resolve) => setTimeout(resolve, START_AGAIN_AFTER))
    }
}

async function main(): Promise<void> {
  const setup = JSON.parse(process.argv[2]!) as WorkerSetup
  const { redis, lockWatchdogTimeout } = setup
  const evidence = new EvidenceWriter(setup.evidenceUrl, setup.worker)
  const internals = mutated(setup.mutant, setup.worker)
  const redisson = await startedAgain(() => Redisson.createWith({ redis, lockWatchdogTimeout }, internals))
  redisson.on('error', (error) => tell({ is: 'complaint', message: describe(error), at: micros() }))
  const failures: Record<string, number> = {}
  const unexpected: string[] = []
  let stopping = false
  const around: Surroundings = {
    redisson,
    evidence,
    lockWatchdogTimeout,
    stopping: () => stopping,
    failed: (error) => {
      const { code, name, stack } = error as { code?: unknown; name: string; stack: string }
      const key = String(code ?? name)
      failures[key] = (failures[key] ?? 0) + 1
      if (!KNOWN_CODES.includes(key) && unexpected.length < 20) unexpected.push(stack)
    },
  }
  const generation = new Generation(setup.epochs)
  const seed = setup.seed + hash(setup.worker)
  const callers = [...callersOf(setup, around), ...callersOfObjects(setup.objects, around, generation, seed)]
  let running: Promise<unknown> = Promise.resolve()

  process.on('message', (message: ToWorker) => {
    switch (message.do) {
      case 'start':
        running = Promise.all(callers.map((caller) => caller.run()))
        // A bug of the worker itself; without its callers the run would prove nothing.
        running.catch((error) => {
          console.error(error)
          process.exit(1)
        })
        break
      case 'block':
        block(message.ms)
        tell({ is: 'unblocked', at: micros() })
        break
      case 'join':
        void joinAtOnce(around, {
          ...message,
          plan: setup.locks.find(({ name }) => name === message.lock)!,
        }).then(() => tell({ is: 'joined' }))
        break
      case 'stop':
        stopping = true
        generation.stop()
        void running.then(async () => {
          await settled(redisson)
          tell({ is: 'stopped', report: { left: leftIn(redisson), failures, unexpected } })
        })
        break
      case 'epoch':
        generation.next(message.epochs)
        break
      case 'describe':
        console.error(setup.worker, describeWaiting(redisson))
        break
      case 'shutdown':
        void redisson.shutdown().then(async () => {
          await evidence.close()
          process.off('disconnect', orphaned)
          process.disconnect()
        })
    }
  })
  tell({ is: 'ready', clientId: redisson.getId() })
}

function callersOf({ locks, seed, worker }: WorkerSetup, around: Surroundings): Caller[] {
  return locks.flatMap((plan, at) => {
    const side: Side = plan.kind === 'readWrite' ? 'w' : 'x'
    const sides = [...Array<Side>(plan.writers).fill(side), ...Array<Side>(plan.readers).fill('r')]
    return sides.map(
      (each, i) =>
        new Caller(around, `${plan.name}/${i + 1}`, plan, each, seed + 1000 * at + 7 * i + hash(worker)),
    )
  })
}

const hash = (text: string): number => [...text].reduce((sum, char) => sum * 31 + char.charCodeAt(0), 7) % 1e6

/** A subscription lingers for a second, and late copies are released for some more. */
async function settled(redisson: Redisson): Promise<void> {
  const deadline = Date.now() + 30_000
  while (Object.keys(leftIn(redisson)).length > 0 && Date.now() < deadline)
    await new Promise((resolve) => setTimeout(resolve, 100))
}

function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

/** With its cause: the one may say what was refused, the other what came of it. */
function describe(error: unknown): string {
  const { message, cause } = error as Error
  return cause instanceof Error ? `${message} (${cause.message})` : message
}

function tell(message: FromWorker): void {
  if (process.connected) process.send!(message)
}

// Ctrl-C reaches every process of the terminal; the run decides what ends when.
process.on('SIGINT', () => {})
const orphaned = () => process.exit(1)
process.once('disconnect', orphaned)
main().catch((error) => {
  console.error(error)
  process.exit(1)
})
