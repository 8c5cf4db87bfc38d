import { setTimeout as sleep } from 'node:timers/promises'
import { type RedisNode, waitUntil, withClient } from '../../../kit/servers/index'
import type { PlannedFault } from '../plan/schedule'
import { changeRights, restoreRights } from '../world/rights'
import type { World } from './world'

/** Its connections cannot be put into their database; twice, so that it meets the refusal also when it retries. */
export async function withoutSelect(world: World, fault: PlannedFault): Promise<void> {
  const { network } = world.workforce.networkOf(fault.worker)!
  await withoutRights(world, fault, ['-select'], async () => {
    for (let i = 0; i < 2; i++) {
      network.cut()
      await sleep(fault.lasts / 2)
    }
  })
}

export async function withoutPublish(world: World, fault: PlannedFault): Promise<void> {
  // What Redis 7 gives every new user, or one command less.
  const rules = fault.dice > 50 ? ['resetchannels'] : ['-publish', '-spublish']
  await withoutRights(world, fault, rules, () => sleep(fault.lasts))
}

async function withoutRights(
  { workforce, topology }: World,
  { worker }: PlannedFault,
  rules: readonly string[],
  meanwhile: () => Promise<unknown>,
): Promise<void> {
  const { name } = workforce.networkOf(worker)!
  try {
    await changeRights(topology.nodes, name, rules)
    await meanwhile()
  } finally {
    await restoreRights(topology.nodes, name)
  }
}

/** One way, in ms: what a client sends when it connects arrives well before what it sends after the answer. */
const SLOW_NETWORK = 40
/** In ms. In this time the sentinels get an answer other than BUSY. */
const BETWEEN_SCRIPTS = 700

/** Of a connection that is opened, SELECT meets the slow script and is refused, and what follows may pass. */
export async function busyWhileReconnecting(world: World, fault: PlannedFault): Promise<void> {
  const { topology, workforce, nameOf } = world
  const { network } = workforce.networkOf(fault.worker)!
  const server = await topology.primaryOf(nameOf(fault.lock))
  const over = performance.now() + fault.lasts
  network.delay(SLOW_NETWORK)
  try {
    for (let round = 0; performance.now() < over; round++) {
      // The clients take a while to try again, never the same: each round ends at another point of that.
      await busy(server, 150 + ((fault.dice + round * 37) % 120), () => network.cut())
      await sleep(BETWEEN_SCRIPTS)
    }
  } finally {
    network.delay(0)
  }
}

async function busy(server: RedisNode, ms: number, begun: () => void): Promise<void> {
  const isBusy = () =>
    withClient(server, (client) =>
      client.ping().then(
        () => false,
        (error: Error) => error.message.startsWith('BUSY'),
      ),
    )
  const killed = withClient(server, (client) => client.eval('while true do end', 0)).catch(() => {})
  await waitUntil('the server is busy', isBusy)
  begun()
  await sleep(ms)
  // It has written nothing, so it can be ended.
  await waitUntil('the script is ended', () =>
    withClient(server, (client) =>
      client.call('SCRIPT', 'KILL').then(
        () => true,
        (error: Error) => error.message.startsWith('NOTBUSY'),
      ),
    ),
  )
  await killed
}
