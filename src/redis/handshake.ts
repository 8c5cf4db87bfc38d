import { type Cluster, Redis, type RedisOptions } from 'ioredis'
import { systemClock } from '../util/clock'
import { isReplyError } from './connect'
import { openSocketsOutsideRequests } from './open-sockets-outside-requests'

/** The server refused SELECT when a connection was opened. The connection is closed and opened again later. */
export class SelectRefusedError extends Error {
  // ioredis gives this name to the error replies of a server.
  override readonly name = 'ReplyError'

  constructor(db: number, reply: string) {
    super(`${reply}: the connection is not in database ${db} and is not used`)
  }
}

/** The members of ioredis that this file replaces. Its types do not have them. */
interface Internals {
  readonly connectionEpoch: number
  readonly connector: { connectToSentinel?: (...args: unknown[]) => Redis }
  _readyCheck(done: (error: unknown, info?: object) => void): void
  duplicate(...args: unknown[]): Redis
}

type Method = (...args: unknown[]) => Promise<unknown>

const INFO_REFUSED = /\bNOPERM\b|unknown (sub)?command|not (allowed|permitted|support)|disabled/i
const NEEDS_NO_PASSWORD = /no password is set|without any password configured for the default user/
const TAKES_NO_USERNAME = /wrong number of arguments for 'auth' command/

const ignore = () => {}
/** Only of connections that passed the check. */
const runIds = new WeakMap<Redis, string | undefined>()

/**
 * Opens a connection that becomes ready only when it is in its database. With `enableReadyCheck: false` it sends no INFO.
 */
export function openChecked(options: RedisOptions & { replyMapping: 'legacy' }): Redis {
  const redis = new Redis({ ...options, enableReadyCheck: true })
  openSocketsOutsideRequests(redis)
  checkHandshake(redis, options.enableReadyCheck !== false)
  return redis
}

/**
 * Replaces the check of ioredis between its handshake and `ready`. When SELECT fails, ioredis itself reports that and goes on
 * in database 0, and would resend there the unanswered commands of the last connection. It also prints warnings. With this
 * check, ioredis sends only its handshake until the check has passed. If the check fails, ioredis reconnects after a
 * back-off.
 */
export function checkHandshake(redis: Redis, asksForInfo: boolean): void {
  const internals = redis as unknown as Internals
  const select = redis.select.bind(redis)
  // The check reports a failed SELECT; ioredis would report it a second time.
  const selectInHandshake: Method = (...args) => {
    const answer = (select as Method)(...args)
    return redis.status === 'connect' ? answer.catch(ignore) : answer
  }
  Object.assign(redis, { select: selectInHandshake })
  internals._readyCheck = (done) => {
    check(redis, select, asksForInfo).then((info) => {
      runIds.set(redis, info.run_id)
      done(null, info)
    }, done)
  }
  logInQuietly(redis)
  connectToSentinelsQuietly(internals)
}

/** Whether the installed ioredis lets its handshake be checked. Known once a connection is ready. */
export function wasChecked(redis: Redis): boolean {
  return runIds.has(redis)
}

/** The run id of the server of this connection; undefined before it is ready, and if INFO was not sent or was refused. */
export function runIdOf(redis: Redis): string | undefined {
  return runIds.get(redis)
}

/** Prevents the warnings of ioredis for the nodes of a cluster. They have one database only, so nothing needs a check. */
export function logInToNodesQuietly(cluster: Cluster): void {
  cluster.on('+node', (node: Redis) => {
    logInQuietly(node)
    // ioredis reads the map of slots through duplicates of the nodes.
    const internals = node as unknown as Internals
    const duplicate = internals.duplicate.bind(node)
    internals.duplicate = (...args) => logInQuietly(duplicate(...args))
  })
}

/** Resolves with the fields of INFO, if the user may call it. SELECT and INFO cost one round trip together. */
async function check(
  redis: Redis,
  select: Redis['select'],
  asksForInfo: boolean,
): Promise<Record<string, string>> {
  const { db } = redis.options
  const selecting = db ? select(db) : undefined
  const asking = asksForInfo ? infoOnceLoaded(redis) : undefined
  asking?.catch(ignore)
  try {
    await selecting
  } catch (error) {
    throw isReplyError(error) ? new SelectRefusedError(db!, (error as Error).message) : error
  }
  return (await asking) ?? {}
}

/** Never settles if the connection breaks: the next connection sends its own INFO. */
async function infoOnceLoaded(redis: Redis): Promise<Record<string, string>> {
  const internals = redis as unknown as Internals
  const { connectionEpoch } = internals
  for (;;) {
    const info = await infoOf(redis)
    if (!info.loading || info.loading === '0') return info
    await new Promise<void>((resolve) => systemClock.after(redis.options.maxLoadingRetryTime ?? 250, resolve))
    if (internals.connectionEpoch !== connectionEpoch || redis.status !== 'connect') return info
  }
}

async function infoOf(redis: Redis): Promise<Record<string, string>> {
  try {
    const lines = String(await redis.info()).matchAll(/^([^#:\r\n]+):(.*)$/gm)
    return Object.fromEntries([...lines].map(([, field, value]) => [field, value!.trimEnd()]))
  } catch (error) {
    if (isInfoRefused(error)) return {}
    throw error
  }
}

/** Whether the server has no INFO, or refuses it to this user. The user can still use locks. */
function isInfoRefused(error: unknown): boolean {
  return isReplyError(error) && INFO_REFUSED.test((error as Error).message)
}

/** Prevents the warning that ioredis prints if the server needs no password, or knows no user names. */
function logInQuietly(redis: Redis): Redis {
  const methods = redis as unknown as Record<'auth' | 'hello', Method>
  for (const name of ['auth', 'hello'] as const) {
    const send = methods[name].bind(redis)
    methods[name] = (...args) => send(...args).catch(judgeLogin)
  }
  return redis
}

/** Judges the server's refusal of a login. Exported for tests: only servers from before 2020 answer the second case. */
export function judgeLogin(error: unknown): void {
  const { message } = error as Error
  if (NEEDS_NO_PASSWORD.test(message)) return
  if (!TAKES_NO_USERNAME.test(message)) throw error
  const reply = 'ERR the server takes a password without a user name, as before Redis 6: leave username out'
  throw Object.assign(new Error(reply), { name: 'ReplyError' })
}

/** Does the same for connections to sentinels. ioredis also prints errors of those that report failovers. */
function connectToSentinelsQuietly({ connector }: Internals): void {
  const connect = connector.connectToSentinel?.bind(connector)
  if (!connect) return
  connector.connectToSentinel = (...args) => {
    const sentinel = connect(...args)
    sentinel.on('error', ignore)
    return logInQuietly(sentinel)
  }
}
