import { lacksScripts } from 'rlock/internal'
import type { Node, NodeCheck } from './check'

const PRODUCTION = 'docs/operations/going-to-production.md'
const FAILOVER = 'docs/operations/failover.md'

const SLOW_SCRIPT_US = 10_000
const SLOW_ROUND_TRIP_MS = 50
const SKEW_MS = 1_000
const PROBES = 5
/** The watchdog sends something at least every 10 s; an idle connection may be silent for longer. */
const SHORTEST_TIMEOUT_S = 60
const SMALLEST_BUFFER = 1_048_576

const number = ({ info }: Node, field: string) => Number(info.get(field) ?? Number.NaN)
const isOlder = (version: string, [major, minor]: readonly [number, number]) => {
  const [own = 0, second = 0] = version.split('.').map(Number)
  return own < major || (own === major && second < minor)
}

async function clock({ redis }: Node): Promise<{ roundTrip: number; skew: number }> {
  const probes: { roundTrip: number; skew: number }[] = []
  for (let at = 0; at < PROBES; at++) {
    const sent = Date.now()
    const started = performance.now()
    const [seconds, micros] = await redis.time()
    const roundTrip = performance.now() - started
    const server = Number(seconds) * 1_000 + Number(micros) / 1_000
    probes.push({ roundTrip, skew: server - (sent + roundTrip / 2) })
  }
  // The fastest probe says most: a slower one was held up on this machine or on the way.
  return probes.reduce((best, probe) => (probe.roundTrip < best.roundTrip ? probe : best))
}

/** What is checked of each primary. */
export const SERVER_CHECKS: readonly NodeCheck[] = [
  {
    id: 'server-version',
    level: 'error',
    page: 'docs/operations/compatibility.md',
    fix: 'Use Redis 6.2 or later, or Valkey.',
    wrong({ info }) {
      const version = info.get('redis_version') ?? ''
      return !info.has('valkey_version') && version !== '' && isOlder(version, [6, 2])
        ? `Redis ${version} is older than 6.2`
        : undefined
    },
  },
  {
    id: 'no-scripts',
    level: 'error',
    page: 'docs/operations/compatibility.md',
    fix: 'Use a server that has EVAL and EVALSHA under these names. In Valkey, load its Lua module.',
    async wrong({ redis }, { connection }) {
      const [answer] = await connection.ask(redis, [['eval', 'return 1', 0]])
      return answer && 'error' in answer && lacksScripts(answer.error)
        ? `it runs no Lua scripts, and every call of a lock is one: ${answer.error.message}`
        : undefined
    },
  },
  {
    id: 'eviction',
    level: 'error',
    page: PRODUCTION,
    fix: ({ info }) =>
      `Set maxmemory-policy to noeviction, or use a server of its own for locks.${
        isOlder(info.get('redis_version') ?? '', [8, 12]) || info.has('valkey_version')
          ? ''
          : ' BLESS SET key NO-EVICT keeps the counter of a fenced lock, a semaphore or a latch, but no lock: each time it is taken, ' +
            'it is a new key.'
      }`,
    wrong(node) {
      const policy = node.info.get('maxmemory_policy') ?? 'noeviction'
      return number(node, 'maxmemory') > 0 && policy !== 'noeviction'
        ? `maxmemory-policy ${policy} may evict a lock that is held, and then two callers hold it`
        : undefined
    },
  },
  {
    id: 'persistence',
    level: 'warn',
    page: PRODUCTION,
    fix: 'Set appendonly yes, or keep the server down for longer than the longest lease before it starts again.',
    async wrong(node, patient) {
      const save = await patient.config(node, 'save')
      return node.info.get('aof_enabled') === '0' && save === ''
        ? 'neither AOF nor RDB is on: a restart forgets every lock while its holder works on'
        : undefined
    },
  },
  {
    id: 'replicas',
    level: 'warn',
    page: FAILOVER,
    fix: 'Set min-replicas-to-write 1, so that a primary that is cut off grants no lock.',
    async wrong(node, patient) {
      if (!(number(node, 'connected_slaves') > 0)) return undefined
      const least = await patient.config(node, 'min-replicas-to-write')
      return least === '0'
        ? 'it has replicas, and min-replicas-to-write is 0: after a network split two primaries may grant one lock'
        : undefined
    },
  },
  {
    id: 'too-few-replicas',
    level: 'error',
    page: FAILOVER,
    fix: 'Connect the replicas, or set min-replicas-to-write 0.',
    async wrong(node, patient) {
      const least = Number((await patient.config(node, 'min-replicas-to-write')) ?? 0)
      const good = number(node, 'min_slaves_good_slaves')
      return least > 0 && good < least
        ? `min-replicas-to-write is ${least}, and ${good} replicas keep up: the server refuses every lock`
        : undefined
    },
  },
  {
    id: 'no-replicas',
    level: 'warn',
    page: FAILOVER,
    fix: 'Connect a replica: without one, an acquisition is acknowledged by nothing but the primary.',
    wrong: (node, { connection }) =>
      connection.kind === 'sentinel' && number(node, 'connected_slaves') === 0
        ? 'Sentinel watches it, and no replica is connected: a failover is not possible'
        : undefined,
  },
  {
    id: 'sharded-pubsub',
    level: 'warn',
    page: 'docs/operations/compatibility.md',
    fix: 'Use the same shardedSubscriptionMode in every client, in Java and in Node.',
    async wrong({ redis }, { connection }) {
      if (connection.publish !== 'spublish') return undefined
      const missing = 'whether some clients listen on other channels: the right to PUBSUB CHANNELS is missing'
      const channels = await connection.tell(redis, missing, 'PUBSUB', 'CHANNELS', 'redisson_*')
      const count = ((channels ?? []) as string[]).length
      return count > 0
        ? `${count} channels of locks have listeners that are not sharded, and releases are published sharded: they do not hear them`
        : undefined
    },
  },
  {
    id: 'proxy',
    level: 'warn',
    page: 'docs/guides/connecting.md',
    fix: 'Give the services and this tool the nodes of the cluster. Through the proxy, rlock renews the locks of each slot in a call of their own.',
    async wrong({ redis }, { connection }) {
      if (connection.isCluster) return undefined
      // Two keys that no slot has both, and a script that touches neither.
      const [answer] = await connection.ask(redis, [['eval', 'return 1', 2, 'rlock:a', 'rlock:b']])
      return answer && 'error' in answer && /^CROSSSLOT/.test(answer.error.message)
        ? 'it is a proxy before a cluster: this tool and INFO see one node of it, and a command with keys of two slots is refused'
        : undefined
    },
  },
  {
    id: 'client-timeout',
    level: 'warn',
    page: PRODUCTION,
    fix: 'Set timeout 0, or 60 and more.',
    async wrong(node, patient) {
      const timeout = Number((await patient.config(node, 'timeout')) ?? 0)
      return timeout > 0 && timeout < SHORTEST_TIMEOUT_S
        ? `timeout ${timeout} closes connections that are idle for ${timeout} s, also those of holders`
        : undefined
    },
  },
  {
    id: 'pubsub-buffer',
    level: 'warn',
    page: PRODUCTION,
    fix: 'Set client-output-buffer-limit pubsub 32mb 8mb 60.',
    async wrong(node, patient) {
      const limits = await patient.config(node, 'client-output-buffer-limit')
      const hard = Number(/pubsub (\d+)/.exec(limits ?? '')?.[1] ?? 0)
      return hard > 0 && hard < SMALLEST_BUFFER
        ? `the output buffer of a subscriber ends at ${hard} bytes: the server closes the connections of waiters`
        : undefined
    },
  },
  {
    id: 'clock-skew',
    level: 'warn',
    page: 'docs/guarantees.md',
    fix: 'Run NTP on every machine: Java compares the times of fair locks and of permits by its own clock.',
    async wrong(node) {
      const { skew } = await clock(node)
      return Math.abs(skew) > SKEW_MS
        ? `its clock differs from the clock of this machine by ${Math.round(skew)} ms`
        : undefined
    },
  },
  {
    id: 'round-trip',
    level: 'warn',
    page: 'docs/evidence/performance.md',
    fix: 'Move the services closer to the server: each lock costs two round trips.',
    async wrong(node) {
      const { roundTrip } = await clock(node)
      return roundTrip > SLOW_ROUND_TRIP_MS ? `a round trip takes ${Math.round(roundTrip)} ms` : undefined
    },
  },
  {
    id: 'slow-scripts',
    level: 'warn',
    page: 'docs/operations/monitoring.md',
    fix: 'Find what keeps the server busy: SLOWLOG GET, large keys, a disk that is slow with appendfsync always.',
    wrong({ info }) {
      const slowest = ['eval', 'evalsha']
        .map((command) =>
          Number(/p99=([\d.]+)/.exec(info.get(`latency_percentiles_usec_${command}`) ?? '')?.[1] ?? 0),
        )
        .reduce((most, each) => Math.max(most, each))
      return slowest > SLOW_SCRIPT_US
        ? `one script in a hundred takes ${Math.round(slowest / 1_000)} ms or longer`
        : undefined
    },
  },
]
