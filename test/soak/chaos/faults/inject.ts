import { setTimeout as sleep } from 'node:timers/promises'
import { type FaultKind, LATE_MS } from '../plan/catalogue'
import type { PlannedFault } from '../plan/schedule'
import { onEvery } from '../world/topology'
import { busyWhileReconnecting, withoutPublish, withoutSelect } from './refusals'
import type { World } from './world'

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
