import { type EventEmitter, once } from 'node:events'
import { type Cluster, Redis } from 'ioredis'
import { RedisRefusedError, RedisUnavailableError } from '../../api/errors'
import type { Clock } from '../../util/clock'
import { withTimeout } from '../../util/timeout'
import { classify, isReplyError, SelectRefusedError, withoutSecrets } from '../reply/errors'
import type { RedisTarget } from '../target/target'
import { addressOf } from './cluster-nodes'
import { handshakes } from './ioredis-internals'
import { primaryNamed } from './sentinels'

/**
 * Connects. Rejects within the target's connect timeout with RedisUnavailableError, which says why, or
 * RedisRefusedError. Then it leaves no connection open.
 */
export async function connectOrFail(
  redis: Redis | Cluster,
  target: RedisTarget,
  clock: Clock,
): Promise<void> {
  const failure = lastFailure(redis)
  // Rejects at an error event, which has the reason. The promise of `connect` says that it was closed.
  const ready = once(redis as EventEmitter, 'ready')
  try {
    await inTime(Promise.race([redis.connect(), ready]), target, clock)
  } catch (error) {
    const { reason, node = redis instanceof Redis ? primaryNamed.get(redis) : undefined } = failure
    redis.disconnect()
    if (node && redis instanceof Redis && handshakes.get(redis)?.isReplica)
      throw new RedisUnavailableError(
        `Redis at ${target.description} has no primary: a sentinel names the server ${node}, which is a ` +
          'replica. A failover may be under way: try again',
        { cause: withoutSecrets(error, target.secrets) },
      )
    const { lastNodeError } = error as { lastNodeError?: unknown }
    throw unavailable(reason ?? lastNodeError ?? error, target, node)
  }
}

/**
 * The node of a cluster that answers first: another node may hang. Rejects with RedisUnavailableError, naming
 * a node, if none answers within the target's connect timeout.
 */
export async function firstToAnswer(cluster: Cluster, target: RedisTarget, clock: Clock): Promise<Redis> {
  const nodes = cluster.nodes('master')
  const answering = nodes.map(async (node) => {
    await node.ping().catch(unlessReply)
    return node
  })
  const first = Promise.any(answering).catch(({ errors }) => {
    throw errors.find(isReplyError) ?? errors[0] ?? new Error('the cluster names no node that has slots')
  })
  const failure = lastFailure(cluster)
  try {
    return await inTime(first, target, clock)
  } catch (error) {
    const { reason = error, node = nodes[0] && addressOf(nodes[0]) } = failure
    throw isReplyError(error) ? unavailable(error, target) : unavailable(reason, target, node)
  }
}

/**
 * Notes why connections fail. ioredis rejects with "Connection is closed" or "all are unreachable"; its
 * events had the reason before.
 */
function lastFailure(redis: EventEmitter): { reason?: unknown; node?: string } {
  const failure = {}
  const note = (reason: Error, node?: string) => {
    if (reason.message !== 'Connection is closed.') Object.assign(failure, { reason, node })
  }
  redis.on('node error', note)
  redis.on('sentinelError', note)
  return failure
}

/** An error reply is an answer, too, unless it closes the connection. */
export function unlessReply(error: unknown): string {
  if (!isReplyError(error) || error instanceof SelectRefusedError) throw error
  return ''
}

/** Settles as the work does, or rejects after the target's connect timeout. */
export function inTime<T>(work: Promise<T>, target: RedisTarget, clock: Clock): Promise<T> {
  return withTimeout(work, target.connectTimeout, clock, () => {
    throw new Error(`no answer within ${target.connectTimeout} ms`)
  })
}

/**
 * A RedisRefusedError if the server would refuse again, else a RedisUnavailableError. `at`: the server that
 * failed, if it is known.
 */
export function unavailable(
  reason: unknown,
  target: RedisTarget,
  at?: string,
): RedisRefusedError | RedisUnavailableError {
  const cause = withoutSecrets(reason, target.secrets)
  const refused = classify(reason) === 'refused'
  const what = refused || isReplyError(reason) ? 'refused the client' : 'could not be reached'
  const isNamed = at !== undefined && at !== target.description
  const isElsewhere =
    isNamed && what === 'could not be reached' && !target.description.split(/[ ,]+/).includes(at)
  const why = isElsewhere
    ? `${cause.message}. If this process cannot reach that address (Docker, NAT), set natMap`
    : explain(cause.message, target.options.tls !== undefined)
  const where = isNamed
    ? `${target.kind === 'cluster' ? 'the cluster' : 'a sentinel'} names the server ${at}: `
    : ''
  const message = `Redis at ${target.description} ${what}: ${where}${why}`
  return refused
    ? new RedisRefusedError(message, cause.message, { cause })
    : new RedisUnavailableError(message, { cause })
}

/** With TLS 1.3 a server often just resets the connection of a client whose certificate it refuses. */
export function tlsHint(message: string, isTls: boolean): string {
  return isTls && /\bECONNRESET$/.test(message)
    ? '. The server may have refused TLS, such as a client certificate that ran out: where certificates ' +
        'change, give tls as a function'
    : ''
}

function explain(message: string, isTls: boolean): string {
  if (message.startsWith('Unknown RESP type'))
    return `the answer is not that of a Redis server (${message.replace(/\..*/, '')}): check the port`
  if (isTls && /^(no answer within|timeout)/.test(message))
    return `${message}. tls is given: does the server expect TLS on this port?`
  if (!isTls && /^Connection is closed$|\b(ECONNRESET|EPIPE)$/.test(message))
    return (
      'the connection was refused or closed. If the server expects TLS on this port, give rediss:// ' +
      'or tls. If it has reached its maxclients, raise that'
    )
  if (/\bSELECT is not allowed in cluster mode\b/.test(message))
    return `${message}. A cluster has the database 0 only, except Valkey 9 with cluster-databases`
  if (/No such master|invalid reply: null/.test(message)) return 'the sentinels know no primary of this name'
  return message
    .replace(/ Retrying from scratch after \d+ms\./, '')
    .replace('Connection is closed', 'the connection was refused or closed')
    .concat(tlsHint(message, isTls))
}
