import { fork } from 'node:child_process'
import { once } from 'node:events'
import { Redis } from 'ioredis'
import { Redisson } from '../../src/index'
import { type FlowsReport, type FlowsWork, runFlows } from './flows'

export interface FlowsOrder extends FlowsWork {
  readonly url: string
  readonly lock: string
  readonly counterKey: string
  readonly lockWatchdogTimeout: number
}

/** Starts a process of its own that runs flows when told to; both answers are promises. */
export function startFlowsProcess(order: FlowsOrder) {
  const child = fork(__filename, {
    execArgv: ['--import', 'tsx'],
    env: { ...process.env, FLOWS_ORDER: JSON.stringify(order) },
  })
  const answer = async () => {
    const ended = once(child, 'exit').then(([code, signal]) => {
      throw new Error(`a process of flows ended early (${signal ?? code})`)
    })
    return (await Promise.race([once(child, 'message'), ended]))[0]
  }
  return {
    ready: answer() as Promise<'ready'>,
    async run(): Promise<FlowsReport> {
      child.send('go')
      return (await answer()) as FlowsReport
    },
    kill: () => child.kill('SIGKILL'),
  }
}

async function main(order: FlowsOrder): Promise<void> {
  const redis = new Redis(order.url)
  const { url, lockWatchdogTimeout } = order
  const redisson = await Redisson.create({ redis: url, lockWatchdogTimeout })
  // Registered before anybody can say go.
  const told = once(process, 'message')
  process.once('disconnect', () => process.exit(1))
  process.send!('ready')
  await told
  const report = await runFlows(redisson.getLock(order.lock), redis, order.counterKey, order)
  await redisson.shutdown()
  redis.disconnect()
  process.send!(report)
}

if (require.main === module) void main(JSON.parse(process.env.FLOWS_ORDER!) as FlowsOrder)
