import { setTimeout as sleep } from 'node:timers/promises'
import { type FaultKind, LATE_MS } from '../plan/catalogue'
import type { PlannedFault } from '../plan/schedule'
import { onEvery } from '../world/topology'
import { busyWhileReconnecting, withoutPublish, withoutSelect } from './refusals'
import type { World } from './world'

const TRIES = 60
/** Those that want one member hold it for less, as a rule. */
const HELD_FOR_MS = 60

/** The first member that is held together with another one by one client. Without such a moment nothing is broken. */
export async function dropMember({ topology: { observer }, members }: World): Promise<void> {
  const names = [...new Set(members)].sort()
  let before: readonly (string | undefined)[] = []
  for (let tries = 0; tries < TRIES; tries++) {
    const fields = await Promise.all(names.map(async (name) => (await observer.hkeys(name))[0]))
    const clients = fields.map((field, at) =>
      field !== undefined && field === before[at] ? field.slice(0, field.indexOf(':')) : undefined,
    )
    const first = clients.findIndex(
      (client, at) => client !== undefined && clients.indexOf(client, at + 1) > 0,
    )
    if (first >= 0) return void (await observer.del(names[first]!))
    before = fields
    await sleep(HELD_FOR_MS)
  }
}

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

/**
 * Does it, and resolves when it is over: what it stopped runs again, what it killed has a successor. Calls
 * `nodeGoesOn` where the rest of it is no excuse for Node workers.
 */
type Injection = (world: World, fault: PlannedFault, nodeGoesOn: () => void) => Promise<unknown> | unknown

const INJECTIONS: Readonly<Record<FaultKind, Injection>> = {
  cut: (world, fault) => network(world, fault).cut(),
  'cut-all': ({ workforce }) => {
    for (const each of workforce.networks()) each.cut()
  },
  'half-close-server': (world, fault) => network(world, fault).halfClose('server'),
  'half-close-worker': (world, fault) => network(world, fault).halfClose('client'),
  stall: (world, fault) => forAWhile(network(world, fault), fault, (each) => each.stall()),
  'stall-replies': (world, fault) => forAWhile(network(world, fault), fault, (each) => each.stallReplies()),
  delay: async (world, fault) => {
    const slow = network(world, fault)
    slow.delay(20 + fault.dice)
    await sleep(fault.lasts)
    slow.delay(0)
  },
  refuse: async (world, fault) => {
    const away = network(world, fault)
    away.refuse()
    away.cut()
    await sleep(fault.lasts)
    await away.accept()
  },
  'lose-replies': (world, fault) => {
    const lossy = network(world, fault)
    for (let i = 0; i < 1 + (fault.dice % 3); i++)
      lossy.dropNextReply(([name]) => /^eval(sha)?$/i.test(name ?? ''))
  },
  'late-copies': async (world, fault) => {
    const broken = network(world, fault)
    broken.stall()
    await sleep(fault.lasts)
    broken.deliverLate(LATE_MS)
    broken.resume()
  },
  'select-refused': withoutSelect,
  'select-busy': busyWhileReconnecting,
  'publish-refused': withoutPublish,
  'kill-commands': (world) => onEveryServer(world, 'CLIENT', 'KILL', 'TYPE', 'normal'),
  'kill-subscribers': (world) => onEveryServer(world, 'CLIENT', 'KILL', 'TYPE', 'pubsub'),
  'script-flush': (world) => onEveryServer(world, 'SCRIPT', 'FLUSH'),
  'config-timeout': async (world, { lasts }) => {
    await onEveryServer(world, 'CONFIG', 'SET', 'timeout', '1')
    await sleep(lasts)
    await onEveryServer(world, 'CONFIG', 'SET', 'timeout', '0')
  },
  'pause-clients': async (world, { lasts, dice }) => {
    await onEveryServer(world, 'CLIENT', 'PAUSE', String(lasts), dice > 50 ? 'ALL' : 'WRITE')
    await sleep(lasts)
  },
  'kill-worker': ({ workforce }, { worker }) => workforce.replaceNode(worker),
  'stop-worker': async ({ workforce }, { worker, lasts }) => {
    const stopped = workforce.node[worker]!
    stopped.signal('SIGSTOP')
    await sleep(lasts)
    stopped.signal('SIGCONT')
  },
  'kill-java': ({ workforce }) => workforce.replaceJava(),
  'stop-java': async ({ workforce }, { lasts }) => {
    workforce.java!.pause()
    await sleep(lasts)
    workforce.java!.resume()
  },
  'block-loop': ({ workforce }, { worker, lasts }) => workforce.node[worker]!.block(lasts),
  'clock-forward': ({ workforce, ...world }, { worker, dice }) =>
    workforce.node[worker]!.send({ do: 'jump', ms: world.topology.lockWatchdogTimeout * (1 + dice / 20) }),
  'clock-back': ({ workforce, ...world }, { worker, dice }) =>
    workforce.node[worker]!.send({ do: 'jump', ms: -world.topology.lockWatchdogTimeout * (1 + dice / 20) }),
  'join-1000': async ({ workforce, locks }, { worker, lock, lasts }) => {
    const plain = locks.filter(({ kind }) => kind !== 'readWrite')
    if (plain.length === 0) return
    await workforce.node[worker]!.join(plain[lock % plain.length]!.name, 1_000, lasts)
  },
  'stop-server': async ({ topology, nameOf }, { lock, lasts }) => {
    const server = await topology.primaryOf(nameOf(lock))
    await server.pause()
    await sleep(lasts)
    await server.resume()
  },
  'restart-with-data': ({ topology }) => topology.restart!(true),
  'restart-empty': ({ topology }) => topology.restart!(false),
  failover: ({ topology, nameOf }, { lock }) => topology.failover!(nameOf(lock)),
  'kill-primary': ({ topology, nameOf }, { lock }) => topology.killPrimary!(nameOf(lock)),
  'initial-sync': ({ topology, nameOf }, { lock, lasts }, nodeGoesOn) =>
    topology.resync!(nameOf(lock), lasts, nodeGoesOn),
  'move-name': async ({ topology }, { lasts }, nodeGoesOn) => {
    await topology.moveName!()
    nodeGoesOn()
    await sleep(lasts)
  },
  'replace-unheard': ({ topology }, { lasts }, nodeGoesOn) => topology.replaceUnheard!(lasts, nodeGoesOn),
  'leave-cluster': ({ topology, nameOf }, { lock, lasts, dice }, nodeGoesOn) =>
    topology.leave!(nameOf(lock), dice > 50, lasts, nodeGoesOn),
  'move-slot': ({ topology, nameOf }, { lock }) => topology.moveSlot!(nameOf(lock)),
  'drop-member': dropMember,
  'red-partition': partition,
  'red-stop': stopSome,
  'red-kill': killSome,
}

export async function inject(world: World, fault: PlannedFault, nodeGoesOn: () => void): Promise<void> {
  await INJECTIONS[fault.kind](world, fault, nodeGoesOn)
}

function network({ workforce }: World, { worker }: PlannedFault) {
  return workforce.networkOf(worker)!.network
}

async function forAWhile<T extends { resume(): void }>(
  on: T,
  { lasts }: PlannedFault,
  begin: (on: T) => void,
) {
  begin(on)
  await sleep(lasts)
  on.resume()
}

const onEveryServer = ({ topology }: World, name: string, ...args: string[]): Promise<void> =>
  onEvery(topology.nodes, name, ...args)
