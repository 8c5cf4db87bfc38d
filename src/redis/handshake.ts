import { type Cluster, Redis, type RedisOptions } from 'ioredis'
import { systemClock } from '../util/clock'
import { isReplyError } from './connect'
import { openOutsideRequests } from './open-outside-requests'

/** The server refused SELECT when a connection was opened. The connection is closed and opened again later. */
export class SelectRefusedError extends Error {
  // As ioredis names what a server answers.
  override readonly name = 'ReplyError'

  constructor(db: number, reply: string) {
    super(`${reply}: the connection is not in database ${db} and is not used`)
  }
}

/** What of ioredis is replaced here. None of it is in its types. */
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
const checked = new WeakSet<Redis>()
const runIds = new WeakMap<Redis, string | undefined>()

/**
 * Opens a connection that is ready only when it is in its database. `enableReadyCheck: false` spares the question for
 * INFO.
 */
export function openChecked(options: RedisOptions & { replyMapping: 'legacy' }): Redis {
  const redis = new Redis({ ...options, enableReadyCheck: true })
  openOutsideRequests(redis)
  checkHandshake(redis, options.enableReadyCheck !== false)
  return redis
}

/**
 * Replaces what ioredis does between its handshake and `ready`. Its own handshake reports a SELECT that failed and goes
 * on in database 0, where it would resend what the last connection left unanswered; and it prints warnings. Until the
 * check has passed, ioredis sends nothing but its handshake, and where the check fails, it connects anew after a
 * back-off.
 */
export function checkHandshake(redis: Redis, asksForInfo: boolean): void {
  const internals = redis as unknown as Internals
  const select = redis.select.bind(redis)
  // The check decides, and reports; ioredis would report as well.
  const selectInHandshake: Method = (...args) => {
    const answer = (select as Method)(...args)
    return redis.status === 'connect' ? answer.catch(ignore) : answer
  }
  Object.assign(redis, { select: selectInHandshake })
  internals._readyCheck = (done) => {
    checked.add(redis)
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
  return checked.has(redis)
}

/** Which start of which server the connection reaches; undefined before it is ready, and where INFO was not asked or is refused. */
export function runIdOf(redis: Redis): string | undefined {
  return runIds.get(redis)
}

/** Does the same for the nodes of a cluster, which have one database. */
export function checkNodes(cluster: Cluster, asksForInfo: boolean): void {
  cluster.on('+node', (node: Redis) => {
    checkHandshake(node, asksForInfo)
    // The map of slots is read through duplicates.
    const internals = node as unknown as Internals
    const duplicate = internals.duplicate.bind(node)
    internals.duplicate = (...args) => logInQuietly(duplicate(...args))
  })
  const internals = cluster as unknown as {
    readyCheck(done: (error?: unknown, fail?: unknown) => void): void
  }
  const readyCheck = internals.readyCheck.bind(cluster)
  internals.readyCheck = (done) =>
    readyCheck((error, fail) => (error && isInfoRefused(error) ? done() : done(error, fail)))
}

/** Resolves with what INFO says, as far as it may be asked for. In one write, so that it costs one round trip. */
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

/** Settles never where the connection breaks: its successor asks for itself. */
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

/** The server has no INFO, or refuses it to this user, who may lock all the same. */
function isInfoRefused(error: unknown): boolean {
  return isReplyError(error) && INFO_REFUSED.test((error as Error).message)
}

/** ioredis prints a warning where the server needs no password, or knows no user names. */
function logInQuietly(redis: Redis): Redis {
  const methods = redis as unknown as Record<'auth' | 'hello', Method>
  for (const name of ['auth', 'hello'] as const) {
    const send = methods[name].bind(redis)
    methods[name] = (...args) => send(...args).catch(judgeLogin)
  }
  return redis
}

/** Exported for tests: servers that answer the second are from before 2020. */
export function judgeLogin(error: unknown): void {
  const { message } = error as Error
  if (NEEDS_NO_PASSWORD.test(message)) return
  if (!TAKES_NO_USERNAME.test(message)) throw error
  const reply = 'ERR the server takes a password without a user name, as before Redis 6: leave username out'
  throw Object.assign(new Error(reply), { name: 'ReplyError' })
}

/** ioredis logs in there as well, and prints the errors of those connections by which it hears of failovers. */
function connectToSentinelsQuietly({ connector }: Internals): void {
  const connect = connector.connectToSentinel?.bind(connector)
  if (!connect) return
  connector.connectToSentinel = (...args) => {
    const sentinel = connect(...args)
    sentinel.on('error', ignore)
    return logInQuietly(sentinel)
  }
}
