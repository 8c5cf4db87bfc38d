import { setTimeout as sleep } from 'node:timers/promises'
import type { PlannedFault } from '../plan/schedule'
import type { World } from './world'

/** So many, the same for the same dice, beginning with one of them. */
function some<T>(all: readonly T[], most: number, dice: number): T[] {
  const count = 1 + (dice % most)
  return Array.from({ length: count }, (_, at) => all[(dice + at) % all.length]!)
}

/** The worker itself must not take the servers that it reaches for all there are. */
export async function partition({ workforce }: World, { worker, lasts, dice }: PlannedFault): Promise<void> {
  const network = workforce.node[worker]!.network
  const cutOff = some(network.redProxies, 4, dice)
  for (const proxy of cutOff) {
    proxy.refuse()
    proxy.cut()
  }
  await sleep(lasts)
  await Promise.all(cutOff.map((proxy) => proxy.accept()))
}

export async function stopSome({ redServers }: World, { lasts, dice }: PlannedFault): Promise<void> {
  const stopped = some(redServers, 2, dice)
  await Promise.all(stopped.map((server) => server.pause()))
  await sleep(lasts)
  await Promise.all(stopped.map((server) => server.resume()))
}

export async function killSome({ redServers }: World, { lasts, dice }: PlannedFault): Promise<void> {
  const killed = some(redServers, 3, dice)
  await Promise.all(killed.map((server) => server.kill()))
  await sleep(lasts)
  await Promise.all(killed.map((server) => server.restart({ keepData: false })))
}
