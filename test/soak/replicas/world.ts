import { once } from 'node:events'
import { createServer } from 'node:net'
import { performance } from 'node:perf_hooks'
import { type LockHold, Redisson, type RedissonOptions } from '../../../src/index'
import { uniqueName } from '../../kit/clients'
import { insist, replicateThroughProxies, roles, through } from '../../kit/replication'
import {
  type Address,
  type RedisNode,
  type SentinelSetup,
  startProxy,
  startSentinel,
  type TcpProxy,
  waitUntil,
  withClient,
} from '../../kit/servers/index'

export const SYNC = 300
const PATIENT = { unavailableAfter: 30_000 }
/** Holders that are still inside together after this long stay so until the network is repaired. */
const LONG_ENOUGH = 8_000

/** One round of one scenario: what it started, to be stopped, and who takes part. */
export class World {
  constructor(private readonly lease: number) {}

  readonly name = uniqueName('replicas')
  holder!: Redisson
  contender!: Redisson
  hold!: LockHold
  acquired = 0
  abortedAt: number | undefined
  enteredAt: number | undefined
  private entered: Promise<LockHold> | undefined
  private readonly stopping: (() => Promise<unknown> | unknown)[] = []

  /** Stops it when the round is over, the last first. */
  later(stop: () => Promise<unknown> | unknown): void {
    this.stopping.unshift(stop)
  }

  proxied(proxies: readonly TcpProxy[]): readonly TcpProxy[] {
    for (const proxy of proxies) this.later(() => proxy.stop())
    return proxies
  }

  async connect(holder: RedissonOptions['redis'], contender = holder): Promise<void> {
    const options = { lockWatchdogTimeout: this.lease, slavesSyncTimeout: SYNC, ...PATIENT }
    this.holder = await Redisson.create({ redis: holder, ...options })
    this.later(() => this.holder.shutdown({ timeout: 0 }))
    this.contender = await Redisson.create({ redis: contender, ...options })
    this.later(() => this.contender.shutdown({ timeout: 0 }))
    // The first user of a connection waits for it to be opened.
    for (const client of [this.holder, this.contender])
      await client.getLock(uniqueName('warm')).withLock(() => {})
  }

  async acquire(): Promise<void> {
    const started = performance.now()
    this.hold = await this.holder.getLock(this.name).acquire()
    this.acquired = performance.now() - started
    this.hold.signal.addEventListener('abort', () => {
      this.abortedAt = performance.now()
    })
  }

  contend(): void {
    this.entered = this.contender.getLock(this.name).acquire()
    this.entered.then(
      () => {
        this.enteredAt = performance.now()
      },
      () => {},
    )
  }

  async untilEntered(): Promise<void> {
    await this.entered
  }

  /** Until the holder knows, or both have been inside for long enough. */
  async untilAborted(): Promise<void> {
    const until = performance.now() + LONG_ENOUGH
    while (this.abortedAt === undefined && performance.now() < until)
      await new Promise((resolve) => setTimeout(resolve, 10))
  }

  /** How long both were inside, in ms; negative: the holder knew so much before. */
  get together(): number {
    if (this.enteredAt === undefined) return Number.NaN
    return (this.abortedAt ?? Number.POSITIVE_INFINITY) - this.enteredAt
  }

  /** The field under which a server must know the hold. */
  isHolder(fields: Record<string, string>): boolean {
    return `${this.holder.getId()}:${this.hold.threadId}` in fields
  }

  async end(): Promise<void> {
    for (const stop of this.stopping) await stop()
  }
}

/** Nothing was failed over, so nothing was tried. */
export class NoFailover extends Error {}

export interface Outcome {
  /** The hold went on at the new primary; undefined where it had been released. */
  readonly kept: boolean | undefined
  /** ms that the acquisition took. */
  readonly acquired: number
  /** ms from the fault until another got in. */
  readonly entered: number | undefined
  /** ms that both were inside; undefined where the hold was kept or had been released. */
  readonly together: number | undefined
}

/** Kills the server; for the rest of the round no other server can start at its address and answer in its place. */
export async function killed(world: World, node: RedisNode): Promise<number> {
  const at = performance.now()
  await node.kill()
  const occupant = createServer((socket) => socket.destroy())
  occupant.listen(node.port, node.host)
  world.later(() => occupant.close())
  await once(occupant, 'listening')
  return at
}

/**
 * The network splits: on one side the primary and the holder of the lock, on the other the replicas, the
 * sentinels and another client. The sentinels promote a replica; the holder hears nothing of it.
 */
export async function cutOffTogether(world: World, config: readonly string[]): Promise<Outcome> {
  const setup = await insist(() => startSentinel({ config }))
  world.later(() => setup.stop())
  const { primary, replicas } = await roles(setup)
  const between = await startProxy(primary)
  await monitorThrough(setup, between)
  const links = await replicateThroughProxies(setup, primary, replicas)
  const asking = await Promise.all(setup.sentinels.map(startProxy))
  world.proxied([between, ...links, ...asking])
  await world.connect(
    {
      sentinels: asking.map(({ host, port }) => ({ host, port })),
      name: setup.name,
      updateSentinels: false,
      // On the holder's side nothing lies between it and the primary.
      natMap: { [`${between.host}:${between.port}`]: { host: primary.host, port: primary.port } },
    },
    through(setup),
  )
  await world.acquire()
  const at = performance.now()
  for (const proxy of [between, ...links]) proxy.stall()
  for (const proxy of asking) refuseAll(proxy)
  world.contend()
  await world.untilEntered()
  await world.untilAborted()
  return { kept: false, acquired: world.acquired, entered: world.enteredAt! - at, together: world.together }
}

function refuseAll(proxy: TcpProxy) {
  proxy.breakOff()
}

/** Lets the sentinels see the primary under the address of a proxy, and everybody who asks them. */
async function monitorThrough({ sentinels, name }: SentinelSetup, proxy: Address): Promise<void> {
  for (const sentinel of sentinels)
    await withClient(sentinel, async (client) => {
      await client.call('SENTINEL', 'REMOVE', name)
      await client.call('SENTINEL', 'MONITOR', name, proxy.host, proxy.port, 2)
      await client.call('SENTINEL', 'SET', name, 'down-after-milliseconds', 1_000)
    })
  for (const sentinel of sentinels)
    await waitUntil('every sentinel knows everybody again', () =>
      withClient(sentinel, async (client) => {
        const known = ((await client.call('SENTINEL', 'MASTER', name)) as string[]).join(' ')
        return known.includes('num-slaves 2') && known.includes('num-other-sentinels 2')
      }),
    )
}
