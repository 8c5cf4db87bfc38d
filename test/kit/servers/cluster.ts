import { setTimeout as sleep } from 'node:timers/promises'
import { describeAddress, sameAddress } from './address'
import { moveSlot, type Primary, SLOT_COUNT, slotsOfShard } from './cluster-slots'
import { type ClusterMember, clusterInfo, membersKnownTo, myId } from './cluster-view'
import type { Machine } from './machine'
import { onMachine } from './on-machine'
import { type RedisNode, startNode } from './redis-node'
import { waitUntil } from './wait-until'
import { info, withClient } from './with-client'

const SHARDS = 3
const NODE_TIMEOUT_MS = 2000
/**
 * A node that was elected keeps its votes for four times the node timeout. Elected again in that time, it counts them again, and
 * takes the shard with its old epoch, which no other node accepts (redis/redis#8753).
 */
const VOTES_KEPT_MS = 4 * NODE_TIMEOUT_MS + 500

export interface ClusterOptions {
  /** How many replicas each of the three primaries gets; none by default. */
  readonly replicas?: number
  /** Further lines of the configuration file of every node. */
  readonly config?: readonly string[]
}

export interface ClusterSetup {
  /** The three first primaries, then the replicas of the first shard, of the second and of the third. */
  readonly nodes: readonly RedisNode[]
  /**
   * Moves a slot with its keys to the primary `nodes[toNodeIndex]` while the cluster serves it.
   * `beforeSettling` runs when the keys have moved but the slot has not: the source answers ASK.
   */
  migrateSlot(slot: number, toNodeIndex: number, beforeSettling?: () => Promise<void>): Promise<void>
  /** Makes a replica of the shard its primary, also when the present one is dead. */
  failover(shard: number): Promise<void>
  /** Resolves when the votes of earlier failovers of the shard count no longer. Await it before a primary is killed. */
  votesForgotten(shard: number): Promise<void>
  /** Which of the nodes is the primary of the slot just now. */
  ownerOf(slot: number): Promise<RedisNode>
  stop(): Promise<void>
}

export function startCluster({
  replicas = 0,
  config: further = [],
}: ClusterOptions = {}): Promise<ClusterSetup> {
  return onMachine(SHARDS * (1 + replicas), async (machine, ports) => {
    const config = [
      'save ""',
      'cluster-enabled yes',
      `cluster-node-timeout ${NODE_TIMEOUT_MS}`,
      'repl-diskless-sync yes',
      'repl-diskless-sync-delay 0',
      ...further,
    ]
    const nodes = await Promise.all(ports.map((port) => startNode(machine, port, { config })))
    await assignSlots(nodes.slice(0, SHARDS))
    await introduce(nodes)
    await attachReplicas(nodes)
    await waitUntilServing(nodes)
    return new StartedCluster(machine, nodes)
  })
}

async function assignSlots(primaries: readonly RedisNode[]): Promise<void> {
  await Promise.all(
    primaries.map((primary, shard) =>
      withClient(primary, async (client) => {
        // Distinct from the start, so that the nodes need not settle conflicts over it first.
        await client.call('CLUSTER', 'SET-CONFIG-EPOCH', shard + 1)
        // One by one, as ADDSLOTSRANGE would rule out servers older than 7.0.
        await client.call('CLUSTER', 'ADDSLOTS', ...slotsOfShard(shard, SHARDS))
      }),
    ),
  )
}

async function introduce(nodes: readonly RedisNode[]): Promise<void> {
  // Everybody to everybody: word of mouth would arrive as well, but later.
  for (const node of nodes) {
    await withClient(node, async (client) => {
      for (const other of nodes) {
        if (other !== node) await client.call('CLUSTER', 'MEET', other.host, other.port)
      }
    })
  }
  await waitUntil('the cluster nodes know each other', async () => {
    const views = await Promise.all(nodes.map(membersKnownTo))
    return views.every(
      (members) => members.length === nodes.length && members.every((member) => member.connected),
    )
  })
}

async function attachReplicas(nodes: readonly RedisNode[]): Promise<void> {
  const replicas = nodes.slice(SHARDS)
  const perShard = replicas.length / SHARDS
  await Promise.all(
    replicas.map(async (replica, index) => {
      const id = await myId(nodes[Math.floor(index / perShard)]!)
      await withClient(replica, (client) => client.call('CLUSTER', 'REPLICATE', id))
      await waitUntil(`the replica at ${describeAddress(replica)} has its copy`, () =>
        withClient(
          replica,
          async (client) => (await info(client, 'replication')).get('master_link_status') === 'up',
        ),
      )
    }),
  )
}

async function waitUntilServing(nodes: readonly RedisNode[]): Promise<void> {
  await waitUntil('every cluster node serves and knows all slots and roles', async () => {
    const states = await Promise.all(nodes.map(clusterInfo))
    const views = await Promise.all(nodes.map(membersKnownTo))
    return (
      states.every(
        (state) =>
          state.get('cluster_state') === 'ok' && state.get('cluster_slots_ok') === String(SLOT_COUNT),
      ) && views.every((members) => members.filter(({ primaryId }) => !primaryId).length === SHARDS)
    )
  })
}

class StartedCluster implements ClusterSetup {
  /** When a replica of each shard was last elected, by `performance.now()`. */
  private readonly electedAt: number[] = []

  constructor(
    private readonly machine: Machine,
    readonly nodes: readonly RedisNode[],
  ) {}

  async migrateSlot(slot: number, toNodeIndex: number, beforeSettling?: () => Promise<void>): Promise<void> {
    const primaries = (await this.members()).filter(({ primaryId }) => !primaryId)
    const source = ownerAmong(primaries, slot)
    const target = primaries.find((primary) => sameAddress(primary, this.nodes[toNodeIndex]!))
    if (!target) throw new Error(`Node ${toNodeIndex} is no primary, so it can take no slot`)
    if (target.id === source.id) return
    const others: Primary[] = primaries.filter(({ id }) => id !== source.id && id !== target.id)
    await moveSlot(slot, source, target, others, beforeSettling)
    await waitUntil(`every node sees slot ${slot} at ${describeAddress(target)}`, async () => {
      const views = await Promise.all((await this.living()).map(membersKnownTo))
      return views.every((members) => ownerAmong(members, slot).id === target.id)
    })
  }

  async votesForgotten(shard: number): Promise<void> {
    const since = performance.now() - (this.electedAt[shard] ?? Number.NEGATIVE_INFINITY)
    if (since < VOTES_KEPT_MS) await sleep(VOTES_KEPT_MS - since)
  }

  async failover(shard: number): Promise<void> {
    const perShard = this.nodes.length / SHARDS - 1
    const firstReplica = SHARDS + shard * perShard
    const members = [this.nodes[shard]!, ...this.nodes.slice(firstReplica, firstReplica + perShard)]
    const living = await this.living()
    const roles = await Promise.all(
      members
        .filter((node) => living.includes(node))
        .map(async (node) => ({ node, role: await roleOf(node) })),
    )
    const replica = roles.find(({ role }) => role === 'slave')?.node
    if (!replica) throw new Error(`Shard ${shard} has no living replica to fail over to`)
    const primaryLives = roles.some(({ role }) => role === 'master')

    // FORCE asks the other primaries only, not the dead one.
    await withClient(replica, (client) =>
      client.call('CLUSTER', 'FAILOVER', ...(primaryLives ? [] : ['FORCE'])),
    )
    await waitUntil(`every node sees ${describeAddress(replica)} as primary`, async () => {
      const views = await Promise.all((await this.living()).map(membersKnownTo))
      return views.every((view) => {
        const member = view.find((known) => sameAddress(known, replica))
        return member !== undefined && !member.primaryId && member.slots.length > 0
      })
    })
    this.electedAt[shard] = performance.now()
  }

  async ownerOf(slot: number): Promise<RedisNode> {
    const owner = ownerAmong(await this.members(), slot)
    return this.nodes.find((node) => sameAddress(node, owner))!
  }

  stop(): Promise<void> {
    return this.machine.close()
  }

  private async members(): Promise<ClusterMember[]> {
    return membersKnownTo((await this.living())[0]!)
  }

  /** Those a test has not killed. */
  private async living(): Promise<RedisNode[]> {
    const answers = await Promise.allSettled(this.nodes.map(myId))
    return this.nodes.filter((_, index) => answers[index]!.status === 'fulfilled')
  }
}

function ownerAmong(members: readonly ClusterMember[], slot: number): ClusterMember {
  const owner = members.find(({ slots }) => slots.some(([from, to]) => from <= slot && slot <= to))
  if (!owner) throw new Error(`No node owns slot ${slot}`)
  return owner
}

const roleOf = (node: RedisNode): Promise<string | undefined> =>
  withClient(node, async (client) => (await info(client, 'replication')).get('role'))
