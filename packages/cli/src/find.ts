import type { Redis } from 'ioredis'
import { LATCH_CHANNEL } from 'rlock/internal'
import type { Wanted } from './answers'
import type { Connection } from './connection'
import { glob } from './glob'
import type { Kind, Row } from './model'
import { inSlices, namesIn } from './names'
import { askProcesses, type ProcessAnswer } from './processes'
import { readObjects } from './read-locks'
import { readSlots, slotsKey, slotsNameOf } from './read-slots'
import { Said } from './said'

/** How many keys one SCAN looks at: the server answers within a millisecond. */
const SLICE = 500
/** How often one slot may move while it is read. */
const MOST_MOVES = 5

export interface Found {
  readonly rows: Row[]
  readonly processes: ProcessAnswer[]
}

export interface FindOptions {
  readonly pattern?: string | undefined
  /** What the user says of keys that could be several things. */
  readonly kind?: Kind | undefined
  /** Numbers are shown although nothing but their type says that they are semaphores or latches. */
  readonly all?: boolean | undefined
}

/** Everything that is known of the locks and synchronizers whose names match. */
export async function findObjects(connection: Connection, options: FindOptions = {}): Promise<Found> {
  const [processes, hosts] = await Promise.all([askProcesses(connection), readHosts(connection)])
  const rows = new Map<string, Row>()
  const hints = hintsOf(processes)
  await addHintsOfChannels(connection, hints)
  const wanted = (name: string): Wanted => ({
    kind: options.kind ?? hints.get(name),
    all: options.all === true || options.kind !== undefined || options.pattern !== undefined,
  })
  const add = (found: readonly Row[]) => {
    for (const row of found) if (!rows.has(row.name)) rows.set(row.name, row)
  }
  const matches = options.pattern === undefined ? () => true : glob(options.pattern)
  const types = wanted('').all ? ['hash', 'string'] : ['hash']
  for (const type of types)
    for await (const { node, names } of allSlices(connection, type, options.pattern))
      add(await readObjects(connection, node, names.filter(isOwnName), wanted))
  const numbered: string[] = []
  // A semaphore whose permits expire is known by the sorted set beside it.
  for await (const { names } of allSlices(connection, 'zset', undefined))
    for (const name of names) {
      const [, base] = /^(.*):timeout$/s.exec(name) ?? []
      for (const owner of namesIn(base ?? '')) hints.set(owner, 'permit-expirable-semaphore')
      const slots = slotsNameOf(name)
      if (slots !== undefined && matches(slots)) numbered.push(slots)
    }
  const hinted = [...hints.keys()].filter((name) => !rows.has(name) && matches(name))
  for (const [node, names] of byNode(connection, hinted, (name) => name))
    for (const slice of inSlices(names, SLICE)) add(await readObjects(connection, node, slice, wanted))
  for (const [node, names] of byNode(connection, numbered, slotsKey))
    for (const slice of inSlices(names, SLICE)) add(await readSlots(connection, node, slice))
  const said = new Said(processes)
  const all = [...rows.values()].filter((row) => !isTwin(row, rows)).map((row) => said.annotated(row, hosts))
  return { rows: all.sort((a, b) => (a.name < b.name ? -1 : 1)), processes }
}

/** The locks whose names match, by their keys alone: no process is asked. */
export async function* findLocks(connection: Connection, pattern: string | undefined): AsyncGenerator<Row[]> {
  for await (const { node, names } of allSlices(connection, 'hash', pattern))
    yield await readObjects(connection, node, names.filter(isOwnName), () => ({ all: false }))
}

/** Everything that is known of one object. Asks the processes about it alone, and reads no other key. */
export async function findOne(
  connection: Connection,
  name: string,
  kind: Kind | undefined,
): Promise<{ row: Row | undefined; processes: ProcessAnswer[] }> {
  const [processes, hosts] = await Promise.all([askProcesses(connection, name), readHosts(connection)])
  const said = kind ?? hintsOf(processes).get(name)
  const node = connection.primaryOf(name)
  const [row = await slotsOf(connection, name)] = await readObjects(connection, node, [name], () => ({
    kind: said,
    all: true,
  }))
  return { row: row && new Said(processes).annotated(row, hosts), processes }
}

async function slotsOf(connection: Connection, name: string): Promise<Row | undefined> {
  return (await readSlots(connection, connection.primaryOf(slotsKey(name)), [name]))[0]
}

/** A channel may be that of `x` or of `{x}`: where neither or the other has a key, this name is a guess too many. */
function isTwin({ name, ttl }: Row, rows: ReadonlyMap<string, Row>): boolean {
  if (ttl !== null) return false
  const [inner] = namesIn(name)
  const isOuter = inner !== undefined && inner !== name && rows.has(inner)
  return isOuter || typeof rows.get(`{${name}}`)?.ttl === 'number'
}

/** What belongs to which primary, so that many questions go there at once. */
export function byNode<T>(
  connection: Connection,
  all: readonly T[],
  nameOf: (each: T) => string,
): Map<Redis, T[]> {
  const nodes = new Map<Redis, T[]>()
  for (const each of all) {
    const node = connection.primaryOf(nameOf(each))
    const known = nodes.get(node)
    if (known) known.push(each)
    else nodes.set(node, [each])
  }
  return nodes
}

/** Keys that belong to another object are not objects of their own. */
const isOwnName = (name: string) =>
  !/^(rlock_(requests|leader|once|slots):|redisson_lock_(token|queue|timeout):|redisson_unlock_latch:)/.test(
    name,
  )

interface Slice {
  readonly node: Redis
  readonly names: string[]
}

/** The keys of every primary. CLUSTERSCAN of Valkey 9.1 misses no key whose slot moves meanwhile; SCAN at each primary may. */
async function* allSlices(
  connection: Connection,
  type: string,
  pattern: string | undefined,
): AsyncGenerator<Slice> {
  if (connection.isCluster && (await hasClusterScan(connection))) {
    yield* clusterSlices(connection, type, pattern)
    return
  }
  for (const node of connection.primaries())
    for await (const names of slices(connection, node, type, pattern)) yield { node, names }
}

async function hasClusterScan(connection: Connection): Promise<boolean> {
  const [answer] = await connection.ask(connection.primaries()[0]!, [['clusterscan', '0', 'COUNT', '1']])
  return answer !== undefined && ('value' in answer || /^MOVED /.test(answer.error.message))
}

/** A cursor of CLUSTERSCAN names its slot by a hash tag. The owner of that slot answers. */
async function* clusterSlices(
  connection: Connection,
  type: string,
  pattern: string | undefined,
): AsyncGenerator<Slice> {
  const match = pattern === undefined ? [] : ['MATCH', pattern]
  let cursor = '0'
  let moves = 0
  do {
    const node: Redis = cursor === '0' ? connection.primaries()[0]! : connection.primaryOf(cursor)
    const command = ['clusterscan', cursor, ...match, 'COUNT', String(SLICE), 'TYPE', type]
    const [answer] = await connection.ask(node, [command])
    if (answer && 'value' in answer) {
      const [next, names] = answer.value as [string, string[]]
      cursor = next
      moves = 0
      if (names.length > 0) yield { node, names }
    } else if (/^MOVED /.test(answer?.error.message ?? '') && moves++ < MOST_MOVES) await connection.refresh()
    else {
      connection.unseen.add('the locks that no process reports: CLUSTERSCAN was refused')
      return
    }
  } while (cursor !== '0')
}

/** The keys of one primary, a slice at a time. */
export async function* slices(
  connection: Connection,
  node: Redis,
  type: string | undefined,
  pattern: string | undefined,
): AsyncGenerator<string[]> {
  const match = pattern === undefined ? [] : ['MATCH', pattern]
  let cursor = '0'
  do {
    const missing = 'the locks that no process reports: the right to SCAN is missing'
    const args = [cursor, ...match, 'COUNT', String(SLICE), ...(type === undefined ? [] : ['TYPE', type])]
    const answer = await connection.tell(node, missing, 'scan', ...args)
    if (answer === undefined) return
    const [next, names] = answer as [string, string[]]
    cursor = next
    if (names.length > 0) yield names
  } while (cursor !== '0')
}

const KIND_OF: Record<string, Kind> = {
  lock: 'lock',
  spin: 'lock',
  'non-reentrant': 'lock',
  fair: 'fair',
  'non-reentrant-fair': 'fair',
  fenced: 'fenced',
  read: 'read-write',
  write: 'read-write',
  token: 'token',
  permit: 'permit-expirable-semaphore',
  semaphore: 'semaphore',
  latch: 'latch',
}

/** What processes say of the kind of their objects. */
function hintsOf(processes: readonly ProcessAnswer[]): Map<string, Kind> {
  const hints = new Map<string, Kind>()
  for (const { holds } of processes)
    for (const { key, kind } of holds) if (KIND_OF[kind]) hints.set(key, KIND_OF[kind])
  return hints
}

/** A channel with a listener names its object, also where the object has no key or a key that could be anything. */
async function addHintsOfChannels(connection: Connection, hints: Map<string, Kind>): Promise<void> {
  const sharded = connection.publish === 'spublish'
  const missing = 'semaphores, latches and token locks: the right to PUBSUB CHANNELS is missing'
  const prefixes: [string, Kind][] = [
    ['redisson_sc:', 'semaphore'],
    [LATCH_CHANNEL, 'latch'],
    ['rlock_token:', 'token'],
  ]
  for (const node of connection.primaries())
    for (const [prefix, kind] of prefixes) {
      const command = sharded ? 'SHARDCHANNELS' : 'CHANNELS'
      const channels = await connection.tell(node, missing, 'PUBSUB', command, `${prefix}*`)
      for (const channel of (channels ?? []) as string[]) {
        const rest = channel.slice(prefix.length)
        // The channel of a latch has braces around any name.
        const names = kind === 'latch' ? [rest.slice(1, -1)] : namesIn(rest)
        for (const name of names) if (!hints.has(name)) hints.set(name, kind)
      }
    }
}

/** The host of each client, by the name of its connections: `rlock:<client id>`. */
export async function readHosts(connection: Connection): Promise<Map<string, string>> {
  const hosts = new Map<string, string>()
  const missing = 'hosts: the right to CLIENT LIST is missing'
  for (const node of connection.primaries()) {
    const list = String((await connection.tell(node, missing, 'client', 'list')) ?? '')
    for (const line of list.split('\n')) {
      const client = / name=\S*rlock:([0-9a-f-]{36})/.exec(line)?.[1]
      const address = / addr=(\S+):\d+ /.exec(line)?.[1]
      if (client && address) hosts.set(client, address)
    }
  }
  return hosts
}
