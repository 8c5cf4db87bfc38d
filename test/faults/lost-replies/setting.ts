import calculateSlot from 'cluster-key-slot'
import { Redis } from 'ioredis'
import { Redisson, type RedissonOptions } from '../../../src/index'
import { luaSources } from '../../../src/scripts/lua.generated'
import { SLOT_COUNT } from '../../kit/servers/cluster-slots'
import {
  type Address,
  serverHas,
  startCluster,
  startSentinel,
  startStandalone,
} from '../../kit/servers/index'

type NatMap = Record<string, Address>

/** Servers of one kind, and how a client is notified of them. */
interface Topology {
  readonly kind: 'standalone' | 'cluster' | 'sentinel'
  /** The servers a client talks to about locks. */
  readonly nodes: readonly Address[]
  /** Where the locks of the cases are. */
  readonly primary: Address
  isThere(name: string): boolean
  /** What a client is given that reaches the nodes at these addresses, in the order of `nodes`. */
  source(addresses: readonly Address[], natMap?: NatMap): RedissonOptions['redis']
  stop(): Promise<void>
}

/** What all cases of one table share: servers, one who looks without any fault in between, and a peer. */
export interface Setting extends Topology {
  readonly admin: Redis
  /** Whether messages go by SPUBLISH. */
  readonly isSharded: boolean
  /** Another process, as far as the lock can tell. It meets no fault. */
  readonly peer: Redisson
  /** Hears what is published on a channel from now on. */
  hear(channel: string, listener: (message: string) => void): Promise<void>
  newName(): string
}

export async function openStandalone(): Promise<Setting> {
  const server = await startStandalone()
  return await open({
    kind: 'standalone',
    nodes: [server],
    primary: server,
    isThere: () => true,
    source: ([address]) => `redis://${address!.host}:${address!.port}`,
    stop: () => server.stop(),
  })
}

export async function openCluster(): Promise<Setting> {
  const setup = await startCluster()
  const end = Math.floor(SLOT_COUNT / setup.nodes.length)
  return await open({
    kind: 'cluster',
    nodes: setup.nodes,
    primary: setup.nodes[0]!,
    isThere: (name) => calculateSlot(name) < end,
    source: (addresses, natMap = {}) => ({
      nodes: addresses.map(plain),
      options: { natMap, slotsRefreshTimeout: 10_000 },
    }),
    stop: () => setup.stop(),
  })
}

export async function openSentinel(): Promise<Setting> {
  const setup = await startSentinel()
  return await open({
    kind: 'sentinel',
    nodes: setup.nodes,
    primary: setup.nodes[0]!,
    isThere: () => true,
    source: (_, natMap = {}) => ({ sentinels: setup.sentinels.map(plain), name: setup.name, natMap }),
    stop: () => setup.stop(),
  })
}

const plain = ({ host, port }: Address): Address => ({ host, port })

let names = 0

async function open(topology: Topology): Promise<Setting> {
  const { kind, nodes, primary } = topology
  const isSharded = kind === 'cluster' && (await serverHas('sharded pub/sub'))
  const admin = new Redis(plain(primary))
  const ear = new Redis(plain(primary))
  const listeners = new Map<string, (message: string) => void>()
  const reported = (channel: string, message: string) => listeners.get(channel)?.(message)
  ear.on('message', reported).on('smessage', reported)
  // Known scripts only: the reply that is lost must be the script's, and no NOSCRIPT.
  for (const source of Object.values(luaSources)) await admin.script('LOAD', source)
  const peer = await Redisson.create({ redis: topology.source(nodes) })
  return {
    ...topology,
    admin,
    isSharded,
    peer,
    async hear(channel, listener) {
      listeners.set(channel, listener)
      if (isSharded) await ear.ssubscribe(channel)
      else await ear.subscribe(channel)
    },
    newName() {
      for (;;) {
        // Of fixed length: no name may be found within another.
        const name = `lost-replies:${String(++names).padStart(6, '0')}`
        if (topology.isThere(name)) return name
      }
    },
    async stop() {
      await peer.shutdown({ timeout: 0 })
      admin.disconnect()
      ear.disconnect()
      await topology.stop()
    },
  }
}
