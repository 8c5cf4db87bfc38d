// One of the Node workers of a chaos run. It judges nothing: it records.
import { Redisson } from '../../../../src/index'
import { JumpingClock } from '../../../kit/jumping-clock'
import { leftIn } from '../../../kit/left-in'
import { micros, type Side } from '../evidence/records'
import { Caller, type Surroundings } from './caller'
import { describeWaiting } from './describe-waiting'
import { EvidenceWriter } from './evidence-writer'
import { joinAtOnce } from './join-at-once'
import type { FromWorker, ToWorker, WorkerSetup } from './messages'
import { mutated } from './mutants'

/** What a contract page says may happen under faults; everything else is a bug. */
const KNOWN_CODES = ['LOCK_LOST', 'LOCK_NOT_REPLICATED', 'REDIS_UNAVAILABLE', 'REDIS_REFUSED']

async function main(): Promise<void> {
  const setup = JSON.parse(process.argv[2]!) as WorkerSetup
  const clock = new JumpingClock()
  const { redis, lockWatchdogTimeout } = setup
  const redisson = await Redisson.createWith(
    { redis, lockWatchdogTimeout },
    { clock, ...mutated(setup.mutant) },
  )
  redisson.on('error', (error) => tell({ is: 'complaint', message: describe(error), at: micros() }))
  const evidence = new EvidenceWriter(setup.evidenceUrl, setup.worker)
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
  const callers = callersOf(setup, around)
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
      case 'jump':
        clock.jumped += message.ms
        break
      case 'join':
        void joinAtOnce(around, message).then(() => tell({ is: 'joined' }))
        break
      case 'stop':
        stopping = true
        void running.then(async () => {
          await settled(redisson)
          tell({ is: 'stopped', report: { left: leftIn(redisson), failures, unexpected } })
        })
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
    const side: Side = plan.kind === 'lock' ? 'x' : 'w'
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
