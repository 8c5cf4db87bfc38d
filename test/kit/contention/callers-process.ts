import { fork } from 'node:child_process'
import { once } from 'node:events'
import { Redis } from 'ioredis'
import { Redisson } from '../../../src/index'
import { endWithThisProcess } from '../servers/left-behind'
import { type CallersReport, type CallersWork, runCallers } from './callers'

export interface CallersOrder extends CallersWork {
  readonly url: string
  /** Where its lock client connects, if not there: the proxy that makes its way longer. */
  readonly lockUrl?: string
  /** The write side of a read-write lock rather than a plain lock. */
  readonly writing?: boolean
  readonly lock: string
  readonly counterKey: string
  readonly lockWatchdogTimeout: number
}

/** Starts a process of its own that runs callers on order; both answers are promises. */
export function startCallersProcess(order: CallersOrder) {
  const child = fork(__filename, {
    execArgv: ['--import', 'tsx'],
    env: { ...process.env, CALLERS_ORDER: JSON.stringify(order) },
  })
  endWithThisProcess(child)
  const answer = async () => {
    const ended = once(child, 'exit').then(([code, signal]) => {
      throw new Error(`a process of callers ended early (${signal ?? code})`)
    })
    return (await Promise.race([once(child, 'message'), ended]))[0]
  }
  return {
    ready: answer() as Promise<'ready'>,
    async run(): Promise<CallersReport> {
      child.send('go')
      return (await answer()) as CallersReport
    },
    kill: () => child.kill('SIGKILL'),
  }
}

async function main(order: CallersOrder): Promise<void> {
  const redis = new Redis(order.url)
  const { url, lockUrl = url, lockWatchdogTimeout } = order
  const redisson = await Redisson.create({ redis: lockUrl, lockWatchdogTimeout })
  const lock = order.writing
    ? redisson.getReadWriteLock(order.lock).writeLock()
    : redisson.getLock(order.lock)
  // Registered before anybody can say go.
  const reported = once(process, 'message')
  process.once('disconnect', () => process.exit(1))
  process.send!('ready')
  await reported
  const report = await runCallers(lock, redis, order.counterKey, order)
  await redisson.shutdown()
  redis.disconnect()
  process.send!(report)
}

if (require.main === module) void main(JSON.parse(process.env.CALLERS_ORDER!) as CallersOrder)
