/** What can be broken where; the names appear in the live line, in the report and in the docs. */
export type TopologyName = 'standalone' | 'sentinel' | 'cluster'

export const FAULTS = {
  cut: 'all connections of a worker are closed',
  'cut-all': 'all connections of all workers are closed',
  'half-close-server': "the server's end of each connection of a worker is closed, the worker's not",
  'half-close-worker': "the worker's end of each connection is closed, the server's not",
  stall: 'nothing passes between a worker and the servers, silently',
  'stall-replies': 'commands of a worker arrive, answers do not come back',
  delay: 'everything between a worker and the servers takes longer',
  refuse: 'a worker is cut off and cannot connect',
  'lose-replies': 'the next scripts of a worker are applied, their replies lost with the connection',
  'late-copies': "a worker's connections break, and what it had sent arrives 20 s later",
  'select-refused':
    'a worker loses the right to SELECT and all its connections, and gets the right back later',
  'select-busy': 'the server is busy with a slow script each time a worker reconnects through a slow network',
  'publish-refused': 'a worker loses the right to publish, or to all channels, and gets it back later',
  'kill-commands': 'CLIENT KILL TYPE normal on every server',
  'kill-subscribers': 'CLIENT KILL TYPE pubsub on every server',
  'script-flush': 'SCRIPT FLUSH on every server',
  'config-timeout': 'CONFIG SET timeout 1, for a while: idle connections are closed',
  'pause-clients': 'CLIENT PAUSE on every server',
  'kill-worker': 'SIGKILL of a Node worker, another comes in its place',
  'stop-worker': 'SIGSTOP of a Node worker past its leases, then SIGCONT',
  'kill-java': 'SIGKILL of the Java worker, another comes in its place',
  'stop-java': 'SIGSTOP of the Java worker past its leases, then SIGCONT',
  'block-loop': 'the event loop of a worker is busy past its leases',
  'join-1000': '1,000 waiters of one worker ask for one lock at once',
  'stop-server': 'SIGSTOP of a primary for less than its failover takes, then SIGCONT',
  'restart-with-data': 'SIGKILL of the server, restarted from its AOF',
  'restart-empty': 'SIGKILL of the server, restarted without its data',
  failover: 'a failover ordered by hand',
  'kill-primary': 'SIGKILL of a primary, failover, the dead one comes back as a replica',
  'initial-sync': 'all replicas of a primary begin anew, and wait for their copy of its data',
  'move-name': 'the name of the server moves to another one with the same data, and the old server lives on',
  'replace-unheard': 'the sentinels restart one after the other, and then replace a primary that lives on',
  'leave-cluster': 'a primary leaves the cluster, cut off or reset, and still answers its clients',
  'move-slot': 'the slot of a lock moves to another node, and waiters with it',
} as const

export type FaultKind = keyof typeof FAULTS

export interface FaultSpec {
  /** How often it is drawn, beside the others. */
  readonly weight: number
  /** How long it lasts: drawn between the two, in ms; by itself where there is none. */
  readonly lasts?: (watchdogTimeout: number) => readonly [number, number]
  /** How long after its end its traces may last: until then nothing that is slow counts as a violation. */
  readonly recovery: number
  readonly on?: readonly TopologyName[]
  /** It can take a lock from its holder; others only delay. */
  readonly costsHolds?: true
  /** It is done to one worker. */
  readonly worker?: 'node' | 'any'
  /** Though it is done to one worker, all of them may feel it. */
  readonly feltByAll?: true
  /** None other begins while it lasts. */
  readonly alone?: true
  /** The servers refuse commands, and clients say so. */
  readonly refuses?: true
  /** The server may come out of it without what it had confirmed. */
  readonly losesData?: true
}

/** How long what was sent over a broken connection is on its way. */
export const LATE_MS = 20_000
/** A waiter that no message wakes sleeps for as long as the lease it saw: no lease of a run is longer. */
export const LONGEST_LEASE = 20_000

const SILENCE_FOUND_WITHIN = 10_000
const RECONNECTED_WITHIN = 2_500
/** A primary that has lost a replica grants nothing for 4 s (docs/operations/failover.md). */
const GRANTS_AGAIN_WITHIN = 5_000

export const SPECS: Readonly<Record<FaultKind, FaultSpec>> = {
  cut: { weight: 10, recovery: RECONNECTED_WITHIN, worker: 'any' },
  'cut-all': { weight: 6, recovery: RECONNECTED_WITHIN },
  'half-close-server': { weight: 4, recovery: RECONNECTED_WITHIN, worker: 'any' },
  'half-close-worker': { weight: 4, recovery: RECONNECTED_WITHIN, worker: 'any' },
  stall: {
    costsHolds: true,
    weight: 6,
    lasts: () => [300, 6_000],
    recovery: SILENCE_FOUND_WITHIN,
    worker: 'any',
  },
  'stall-replies': {
    costsHolds: true,
    weight: 6,
    lasts: () => [300, 6_000],
    recovery: SILENCE_FOUND_WITHIN,
    worker: 'any',
  },
  delay: { weight: 3, lasts: () => [1_000, 2_000], recovery: 500, worker: 'any' },
  refuse: {
    costsHolds: true,
    weight: 6,
    lasts: () => [300, 6_000],
    recovery: RECONNECTED_WITHIN,
    worker: 'any',
  },
  'lose-replies': { weight: 12, recovery: RECONNECTED_WITHIN, worker: 'node' },
  'late-copies': { weight: 6, lasts: () => [200, 800], recovery: RECONNECTED_WITHIN, worker: 'node' },
  'select-refused': {
    costsHolds: true,
    weight: 6,
    lasts: () => [1_000, 6_000],
    recovery: RECONNECTED_WITHIN,
    on: ['standalone', 'sentinel'],
    worker: 'any',
    refuses: true,
  },
  'select-busy': {
    costsHolds: true,
    weight: 4,
    lasts: () => [2_000, 4_000],
    recovery: RECONNECTED_WITHIN,
    on: ['standalone', 'sentinel'],
    worker: 'node',
    feltByAll: true,
  },
  'publish-refused': {
    weight: 2,
    lasts: () => [1_000, 4_000],
    recovery: LONGEST_LEASE + RECONNECTED_WITHIN,
    worker: 'any',
    feltByAll: true,
    refuses: true,
  },
  'kill-commands': { weight: 8, recovery: RECONNECTED_WITHIN },
  'kill-subscribers': { weight: 8, recovery: RECONNECTED_WITHIN },
  'script-flush': { weight: 6, recovery: 500 },
  'config-timeout': { weight: 2, lasts: () => [2_000, 4_000], recovery: RECONNECTED_WITHIN },
  'pause-clients': {
    costsHolds: true,
    weight: 4,
    lasts: () => [300, 2_500], // Silent for that long, servers are taken for dead: by clients, and by sentinels.
    recovery: SILENCE_FOUND_WITHIN,
  },
  'kill-worker': { weight: 6, recovery: 1_000, worker: 'node' },
  'stop-worker': {
    costsHolds: true,
    weight: 6,
    lasts: pastLease,
    recovery: RECONNECTED_WITHIN,
    worker: 'node',
  },
  'kill-java': { weight: 2, recovery: 1_000 },
  'stop-java': { costsHolds: true, weight: 2, lasts: pastLease, recovery: SILENCE_FOUND_WITHIN },
  'block-loop': {
    costsHolds: true,
    weight: 6,
    lasts: pastLease,
    recovery: RECONNECTED_WITHIN,
    worker: 'node',
  },
  'join-1000': { weight: 3, lasts: () => [2_000, 3_000], recovery: 3_000, worker: 'node' },
  'stop-server': { costsHolds: true, weight: 4, lasts: () => [300, 900], recovery: 2_000 },
  'restart-with-data': { costsHolds: true, weight: 6, recovery: 3_000, on: ['standalone'] },
  'restart-empty': { costsHolds: true, weight: 4, recovery: 3_000, on: ['standalone'], losesData: true },
  failover: { costsHolds: true, weight: 8, recovery: 8_000, on: ['sentinel', 'cluster'], losesData: true },
  'kill-primary': {
    costsHolds: true,
    weight: 5,
    recovery: 10_000,
    on: ['sentinel', 'cluster'],
    losesData: true,
  },
  'initial-sync': {
    weight: 4,
    lasts: () => [8_000, 12_000],
    recovery: GRANTS_AGAIN_WITHIN,
    on: ['sentinel', 'cluster'],
    alone: true,
  },
  // For longer than their traces are excused, so that a client shows that stays where it was.
  'move-name': {
    weight: 3,
    lasts: () => [8_000, 10_000],
    recovery: RECONNECTED_WITHIN,
    on: ['standalone'],
    alone: true,
  },
  'replace-unheard': {
    costsHolds: true,
    weight: 2,
    lasts: () => [15_000, 20_000],
    recovery: 8_000,
    on: ['sentinel'],
    alone: true,
    losesData: true,
  },
  'leave-cluster': {
    costsHolds: true,
    weight: 2,
    lasts: () => [15_000, 20_000],
    recovery: SILENCE_FOUND_WITHIN,
    on: ['cluster'],
    alone: true,
    losesData: true,
  },
  'move-slot': { weight: 12, recovery: RECONNECTED_WITHIN, on: ['cluster'] },
}

function pastLease(watchdogTimeout: number): readonly [number, number] {
  return [watchdogTimeout * 1.05, watchdogTimeout * 1.6]
}
