// A process with locks that Prometheus scrapes: callers of the groups `order` (many names) and `report` (one name).
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { Registry } from 'prom-client'
import { measureLocks } from '../../examples/prometheus'
import { Redisson } from '../../src'

/** What the run asks for. */
export interface Plant {
  /** Holds `report` for this many ms. */
  readonly holdReportMs: number
}

async function main(): Promise<void> {
  const register = new Registry()
  measureLocks(register, (lockName) => lockName.split(':', 1)[0]!)
  const redisson = await Redisson.create({ redis: process.argv[2]!, lockWatchdogTimeout: 6_000 })
  redisson.on('error', () => {})
  const server = createServer(async (_request, response) => response.end(await register.metrics()))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))

  const section = async (name: string, ms: number) => {
    // Timeouts, losses and a server that is away are what the run is about.
    await redisson
      .getLock(name)
      .withLock(() => sleep(ms), { waitTime: 2_000 })
      .catch(() => {})
  }
  const caller = async (name: () => string, ms: number, pause: number) => {
    for (;;) {
      await section(name(), ms * (0.5 + Math.random()))
      await sleep(pause * (0.5 + Math.random()))
    }
  }
  for (let each = 0; each < 6; each++) void caller(() => `order:${Math.floor(Math.random() * 20)}`, 40, 150)
  for (let each = 0; each < 3; each++) void caller(() => 'report', 25, 250)
  process.on('message', ({ holdReportMs }: Plant) => void section('report', holdReportMs))
  process.send!({ port: (server.address() as AddressInfo).port })
}

process.once('disconnect', () => process.exit(0))
void main()
