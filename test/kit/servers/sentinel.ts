import { type Address, describeAddress, sameAddress } from './address'
import { freePorts } from './free-ports'
import type { Machine } from './machine'
import { onMachine } from './on-machine'
import { type RedisNode, startNode } from './redis-node'
import { waitUntil } from './wait-until'
import { info, withClient } from './with-client'

const NAME = 'mymaster'
const REPLICAS = 2
const SENTINELS = 3

export interface SentinelSetup {
  /** Whom a client asks for the primary. */
  readonly sentinels: readonly RedisNode[]
  /** Under which name. */
  readonly name: string
  /** The one that starts as primary, then its replicas. */
  readonly nodes: readonly RedisNode[]
  /** The primary by the word of the first sentinel that answers. */
  primary(): Promise<Address>
  /** Orders a failover and waits until all sentinels name the new primary and it says so itself. */
  failover(): Promise<void>
  /** SIGKILLs the primary and tells which it was; the sentinels need a second or two to notice. */
  killPrimary(): Promise<Address>
  /** Waits until the sentinels have settled on another primary than this one. */
  waitForNewPrimary(old: Address): Promise<void>
  /** Replaces each sentinel by another one at a new port, one after the other. */
  replaceSentinels(): Promise<void>
  stop(): Promise<void>
}

export interface SentinelOptions {
  /** Further lines of the configuration file of the primary and its replicas. */
  readonly config?: readonly string[]
  /** After so long without an answer, in ms, the sentinels take the primary for dead. */
  readonly downAfter?: number
  /** How many replicas the primary has; two by default. */
  readonly replicas?: number
}

export function startSentinel({
  config = [],
  downAfter = 1_000,
  replicas = REPLICAS,
}: SentinelOptions = {}): Promise<SentinelSetup> {
  return onMachine(1 + replicas + SENTINELS, async (machine, ports) => {
    const nodes = await startReplicatedNodes(machine, ports.slice(0, 1 + replicas), config)
    const sentinels = await startSentinels(machine, ports.slice(1 + replicas), nodes, downAfter)
    return new StartedSentinelSetup(machine, nodes, sentinels)
  })
}

async function startReplicatedNodes(
  machine: Machine,
  ports: readonly number[],
  further: readonly string[],
): Promise<RedisNode[]> {
  const [primaryPort] = ports
  // Without the delay a replica waits five seconds for companions before its first copy.
  const config = ['save ""', 'repl-diskless-sync yes', 'repl-diskless-sync-delay 0', ...further]
  const asReplica = `replicaof ${machine.host} ${primaryPort}`
  const nodes = await Promise.all(
    ports.map((port) =>
      startNode(machine, port, { config: port === primaryPort ? config : [...config, asReplica] }),
    ),
  )
  await waitUntil('the replicas are online', () =>
    withClient(nodes[0]!, async (client) => {
      const lines = [...(await info(client, 'replication'))]
      const online = lines.filter(
        ([field, value]) => /^slave\d+$/.test(field) && value.includes('state=online'),
      )
      return online.length === ports.length - 1
    }),
  )
  return nodes
}

// Only once the replicas are online: sentinels ask a primary for them at once, and then every ten seconds.
async function startSentinels(
  machine: Machine,
  ports: readonly number[],
  [primary, ...replicas]: readonly RedisNode[],
  downAfter: number,
): Promise<RedisNode[]> {
  const config = sentinelConfig(primary!, replicas.length, downAfter)
  const sentinels = await Promise.all(
    ports.map((port) => startNode(machine, port, { mode: 'sentinel', config })),
  )
  for (const sentinel of sentinels) await knows(sentinel, replicas.length, SENTINELS - 1)
  return sentinels
}

const sentinelConfig = ({ host, port }: Address, replicas: number, downAfter: number) => [
  `sentinel monitor ${NAME} ${host} ${port} 2`,
  `sentinel down-after-milliseconds ${NAME} ${downAfter}`,
  `sentinel failover-timeout ${NAME} 3000`,
  `sentinel parallel-syncs ${NAME} ${Math.max(1, replicas)}`,
]

function knows(sentinel: Address, replicas: number, others: number): Promise<void> {
  return waitUntil(`the sentinel at ${describeAddress(sentinel)} knows everybody`, () =>
    withClient(sentinel, async (client) => {
      const master = fields(await client.call('SENTINEL', 'MASTER', NAME))
      return (
        master.get('num-slaves') === String(replicas) && master.get('num-other-sentinels') === String(others)
      )
    }),
  )
}

class StartedSentinelSetup implements SentinelSetup {
  readonly name = NAME

  constructor(
    private readonly machine: Machine,
    readonly nodes: readonly RedisNode[],
    readonly sentinels: RedisNode[],
  ) {}

  async primary(): Promise<Address> {
    const failures: unknown[] = []
    for (const sentinel of this.sentinels) {
      try {
        return await primaryKnownTo(sentinel)
      } catch (failure) {
        failures.push(failure)
      }
    }
    throw new AggregateError(failures, 'No sentinel answers')
  }

  async failover(): Promise<void> {
    const old = await this.primary()
    // Soon after an earlier failover it is refused: still in progress, or no replica known to be good yet.
    await waitUntil('a sentinel accepts to fail over', () =>
      withClient(this.sentinels[0]!, async (client) => {
        await client.call('SENTINEL', 'FAILOVER', NAME)
        return true
      }),
    )
    await this.waitForNewPrimary(old)
  }

  async killPrimary(): Promise<Address> {
    const primary = await this.primary()
    await this.nodes.find((node) => sameAddress(node, primary))!.kill()
    return primary
  }

  async waitForNewPrimary(old: Address): Promise<void> {
    await waitUntil(`all sentinels agree on another primary than ${describeAddress(old)}`, async () => {
      const [first, ...others] = await Promise.all(this.sentinels.map(primaryKnownTo))
      if (sameAddress(first!, old) || !others.every((other) => sameAddress(other, first!))) return false
      return withClient(
        first!,
        async (client) => (await info(client, 'replication')).get('role') === 'master',
      )
    })
  }

  async replaceSentinels(): Promise<void> {
    const { sentinels, machine, nodes } = this
    const config = sentinelConfig(await this.primary(), nodes.length - 1, 1_000)
    // They do not forget the ones that are gone: that takes a reset, and ten seconds until the replicas are found.
    for (const old of [...sentinels]) {
      const [port] = await freePorts(1)
      const added = await startNode(machine, port!, { mode: 'sentinel', config })
      for (const each of sentinels) {
        await hasHeardOf(each, added)
        await hasHeardOf(added, each)
      }
      sentinels.push(added)
      sentinels.splice(sentinels.indexOf(old), 1)
      await old.kill()
    }
  }

  stop(): Promise<void> {
    return this.machine.close()
  }
}

function hasHeardOf(sentinel: Address, other: Address): Promise<void> {
  return waitUntil(`${describeAddress(sentinel)} has heard of ${describeAddress(other)}`, () =>
    withClient(sentinel, async (client) => {
      const known = (await client.call('SENTINEL', 'SENTINELS', NAME)) as unknown[]
      return known.some((each) => fields(each).get('port') === String(other.port))
    }),
  )
}

function primaryKnownTo(sentinel: Address): Promise<Address> {
  return withClient(sentinel, async (client) => {
    const [host, port] = (await client.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', NAME)) as [string, string]
    return { host, port: Number(port) }
  })
}

/** A flat list of fields and values, as sentinels answer. */
function fields(answer: unknown): Map<string, string> {
  const flat = answer as string[]
  const pairs = new Map<string, string>()
  for (let at = 0; at + 1 < flat.length; at += 2) pairs.set(flat[at]!, flat[at + 1]!)
  return pairs
}
