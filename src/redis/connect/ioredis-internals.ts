import type { Cluster, Command, Redis, RedisOptions } from 'ioredis'
import { outsideRequests } from '../../util/async-context'
import { isCommandRefused, isReplyError, SelectRefusedError } from '../reply/errors'
import { readServerInfo, type ServerInfo } from '../reply/info'
import type { AskedWhenOpening } from '../target/ask-when-opening'

// All that the client's own connections need of ioredis beyond its public events and options; sentinels.ts
// has what Sentinel needs. Methods are replaced on connections of the client only, never on a prototype and
// never on an instance of the caller, whose own hooks are in `target/ioredis-instance.ts`. What happens where
// another version of ioredis differs:
//
// | what | why | if ioredis differs |
// | --- | --- | --- |
// | `select`, `info` | a connection is used only in its database | create() refuses it: `handshakes` |
// | `flushQueue` | calls that wait for a connection learn why it was refused | they learn that it was closed |
// | `auth`, `hello`, `duplicate`, `connector.connectToSentinel` | ioredis prints warnings to the console | it prints them |
// | `connector.connect`, `condition.auth` | a connection asks for credentials and TLS options that change | the first connection fails |
// | `duplicate`, `cluster` | a node that was reset or cut off would tell its map of slots | its map is used |
// | the same | a node without a host in the map of slots is at the host of the connection | it is not found |
// | `asking` | ioredis drops its promise | an unhandled rejection may follow ASK |
// | `connect` | sockets would belong to the request that opens them | they do |
// | `initPromise` of a command | its promise costs 5 % of the CPU of a lock, and raw commands call back | it is made and not used |
// | `commandQueue` | whether a broken connection has commands in flight | each is taken for one that has |

type Method = (...args: unknown[]) => Promise<unknown>

/** The part of ioredis that opens sockets. */
export interface Connector {
  /** False once `disconnect()` was called. */
  connecting: boolean
  connect: Method
  disconnect(): void
  connectToSentinel?(endpoint: unknown, options?: object): Redis
  /** Asks the sentinel at this endpoint for the primary, and for the other sentinels. */
  resolve?(endpoint: unknown): Promise<Primary | null>
}

export interface Primary {
  readonly host: string
  readonly port: number
}

/** What the server told when a connection was opened. */
export interface Handshake extends ServerInfo {
  /** Its id; undefined if the user may not ask. A server that restarted begins at 1 again. */
  readonly connection: number | undefined
}

const NEEDS_NO_PASSWORD = /no password is set|without any password configured for the default user/

const CUT_OFF = new Error('Failed to refresh slots: the node says that its cluster is down')

export const ignore = () => {}
/**
 * The last handshake of each connection. A connection that is ready and not here has an ioredis that does not
 * let its handshake be checked.
 */
export const handshakes = new WeakMap<Redis, Handshake>()

/**
 * Makes a connection ready only when it is in its database. When SELECT fails, ioredis itself reports that
 * and goes on in database 0, and would send there what waits. Before `ready` it asks for INFO. That call
 * selects the database first, and has no answer if that fails: the connection is closed, and ioredis
 * reconnects after a back-off. `isOfCluster`: a node that is loading is ready, too. It says so to each call.
 */
export function checkDatabase(redis: Redis, isOfCluster = false): void {
  const select = redis.select.bind(redis) as Method
  const info = redis.info.bind(redis) as Method
  // The check reports a failed SELECT; ioredis would report it a second time.
  const selectInHandshake: Method = (...args) =>
    redis.status === 'connect' ? select(...args).catch(ignore) : select(...args)
  const infoOrCheck: Method = (...args) => {
    const done = args.at(-1)
    if (redis.status !== 'connect' || typeof done !== 'function') return info(...args)
    const { stream } = redis
    const checking = shakeHands(redis, select, info)
    checking.then(
      (answer) => done(null, isOfCluster ? '' : answer),
      (error) => {
        // ioredis would go on after an error that contains NOPERM.
        if (redis.stream !== stream || redis.status !== 'connect') return
        const { flushQueue } = redis as unknown as { flushQueue?(reason: unknown): void }
        flushQueue?.call(redis, error)
        redis.emit('error', error)
        redis.disconnect(true)
      },
    )
    return checking
  }
  Object.assign(redis, { select: selectInHandshake, info: infoOrCheck })
}

/** Resolves with the answer to INFO, if the user may ask. All commands cost one round trip together. */
async function shakeHands(redis: Redis, select: Method, info: Method): Promise<string> {
  const { db } = redis.options
  const selecting = db ? select(db) : undefined
  const asking = Promise.all([info(), redis.client('ID')].map((each) => each.catch(unlessRefused)))
  asking.catch(ignore)
  try {
    await selecting
  } catch (error) {
    throw isReplyError(error) ? new SelectRefusedError(db!, error.message) : error
  }
  const [answer, id] = (await asking).map(String)
  handshakes.set(redis, { ...readServerInfo(answer!), connection: Number(id) || undefined })
  return answer!
}

/** Without these rights the user can still use locks. */
function unlessRefused(error: unknown): string {
  if (!isCommandRefused(error)) throw error
  return ''
}

/**
 * Makes a connection open its sockets in an async context that belongs to no request, also when it
 * reconnects.
 */
export function openSocketsOutsideRequests(redis: Redis | Cluster): void {
  const { connect } = redis
  redis.connect = (...args: Parameters<typeof connect>) => outsideRequests(() => connect.apply(redis, args))
}

/**
 * Makes a connection ask for its credentials whenever it opens, if its options have a function for them.
 * Prevents the warnings that ioredis prints if a server or a sentinel needs no password.
 */
export function logIn(redis: Redis): Redis {
  const methods = redis as unknown as Record<'auth' | 'hello', Method>
  for (const name of ['auth', 'hello'] as const) {
    const send = methods[name].bind(redis)
    methods[name] = (...args) =>
      send(...args).catch((error: Error) => {
        if (!NEEDS_NO_PASSWORD.test(error.message)) throw error
      })
  }
  const { connector } = redis as unknown as { connector?: Connector }
  const asked = redis.options as AskedWhenOpening
  if (connector && (asked.credentials || asked.askForTls || asked.askForSentinelTls))
    askWhenOpening(redis, connector, asked)
  const connect = connector?.connectToSentinel?.bind(connector)
  if (connector && connect)
    connector.connectToSentinel = (...args) => {
      const sentinel = connect(...args)
      // ioredis prints the errors of sentinels that report failovers.
      sentinel.on('error', ignore)
      // Its first connection has the answer of this moment. It asks when it connects again.
      Object.assign(sentinel.options, { askForTls: asked.askForSentinelTls })
      return logIn(sentinel)
    }
  return redis
}

function askWhenOpening(redis: Redis, connector: Connector, asked: AskedWhenOpening) {
  const { credentials, askForTls, askForSentinelTls } = asked
  const open = connector.connect.bind(connector)
  connector.connect = async (...args) => {
    connector.connecting = true
    const [login, tls] = await Promise.all([credentials?.(), askForTls?.()])
    if (!connector.connecting) throw new Error('Connection is closed.')
    // ioredis copies the options for further connections.
    Object.assign(redis.options, login, tls && { tls })
    if (login) {
      const { username, password } = login
      // The condition is that of this connection.
      const { condition } = redis as unknown as { condition: { auth?: unknown } }
      condition.auth = username ? [username, password] : password
    }
    return await open(...args)
  }
  const resolve = connector.resolve?.bind(connector)
  if (!resolve) return
  // `connect` goes on with one sentinel after the other until one answers. That may take longer than options
  // are valid.
  connector.resolve = async (endpoint) => {
    if (askForSentinelTls) Object.assign(redis.options, { sentinelTLS: await askForSentinelTls() })
    const primary = await resolve(endpoint)
    if (askForTls) Object.assign(redis.options, { tls: await askForTls() })
    // ioredis adds the TLS options to it, and it may be an entry of the caller's natMap.
    return primary && { ...primary }
  }
}

/**
 * Prepares the connection to a node of a cluster. Only Valkey 9 has clusters with several databases.
 * `isConnected`: whether the client has a map of slots.
 */
export function prepareNode(node: Redis, isConnected: () => boolean): void {
  openSocketsOutsideRequests(node)
  checkDatabase(node, true)
  logIn(node)
  const methods = node as unknown as { asking: Method; duplicate(...args: unknown[]): Redis }
  // ioredis reads the map of slots, which belongs to no database, through duplicates of the nodes.
  const duplicate = methods.duplicate.bind(node)
  methods.duplicate = (override) =>
    checkSlotMap(logIn(duplicate({ ...(override as RedisOptions), db: 0 })), isConnected)
  // After ASK, ioredis sends ASKING. If that node is gone, the dropped promise would cause an unhandled
  // rejection.
  const asking = methods.asking.bind(node)
  methods.asking = (...args) => {
    const answer = asking(...args)
    answer.catch(ignore)
    return answer
  }
}

type SlotRange = [from: number, to: number, ...nodes: [host: string | null, ...unknown[]][]]

/**
 * Refuses the map of slots of a node that says that its cluster is down, so that ioredis asks the next node.
 * Such a node was reset and its map is empty, or it is cut off from the others and its map is old. Without
 * any map, each map is better than none.
 *
 * A node that does not know its address, or must not tell it, is named without a host: it is at the host of
 * the connection. ioredis would take such a node for one that does not exist.
 */
function checkSlotMap(refresher: Redis, isConnected: () => boolean): Redis {
  const methods = refresher as unknown as { cluster: Method }
  const ask = methods.cluster.bind(refresher)
  const { host } = refresher.options
  methods.cluster = (...args) => {
    const done = args.at(-1) as (error: unknown, map?: unknown) => void
    if (args[0] !== 'SLOTS' || typeof done !== 'function') return ask(...args)
    const state = isConnected() ? ask('INFO').catch(ignore) : undefined
    const answers = Promise.all([ask('SLOTS') as Promise<SlotRange[]>, state])
    answers.then(([map, info]) => {
      for (const [, , ...nodes] of map) for (const node of nodes) node[0] ||= host ?? null
      done(/cluster_state:fail/.test(String(info)) ? CUT_OFF : null, map)
    }, done)
    return answers
  }
  return refresher
}

/** Prevents that the commands of this class make a promise. Commands of other classes are not affected. */
export function withoutPromise(commands: { prototype: Command }): void {
  Object.assign(commands.prototype, { initPromise: ignore })
}

/**
 * Whether messages may come between the answers of this connection. With RESP2, a connection that listens
 * sends no commands.
 */
export function speaksResp3(redis: Redis): boolean {
  return (redis as unknown as { condition?: { protocol?: number } }).condition?.protocol === 3
}

/** How many commands the server has not answered. */
export function unanswered(redis: Redis): number {
  return (redis as unknown as { commandQueue?: { length: number } }).commandQueue?.length ?? 1
}
