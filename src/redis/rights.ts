import type { Redis } from 'ioredis'
import { RedisRefusedError } from '../api/errors'
import type { Clock } from '../util/clock'
import { quote } from '../util/quote'
import { inTime } from './connect'
import { classify } from './errors'
import type { RedisTarget } from './target'

/** The pattern of all channels of one kind, such as `redisson_lock__channel:*`. */
export function channelPattern(channel: string): string {
  return channel.replace(/^([^:{]*:?).*$/s, '$1*')
}

/** The advice how to let a user send this command on all channels of this kind. */
export function channelGrant(command: string, channel: string): string {
  return `Grant the user +${command} &${channelPattern(channel)}, and do not rename ${command.toUpperCase()}`
}

/** The server refused to subscribe to this channel. */
export function subscribeRefused(channel: string, isSharded: boolean, cause: Error): RedisRefusedError {
  const command = isSharded ? 'ssubscribe' : 'subscribe'
  return new RedisRefusedError(
    `Redis refused ${command.toUpperCase()} to the channel ${quote(channel)}: ${cause.message}. Callers that wait try every ` +
      `second. ${channelGrant(command, channel)}.`,
    cause.message,
    { cause },
  )
}

/**
 * Emits a process warning if the server refuses what fences a broken connection, because nothing else would tell of it. Never
 * rejects. Other missing rights are reported by the first call or the first release that needs them.
 */
export async function warnIfUnfenced(redis: Redis, target: RedisTarget, clock: Clock): Promise<void> {
  // No connection has this id, so none is killed.
  const killing = redis.client('KILL', 'ID', Number.MAX_SAFE_INTEGER)
  const asked = [redis.client('ID'), killing, redis.info('server')]
  const answers = await Promise.allSettled(asked.map((each) => inTime<unknown>(each, target, clock)))
  const errors = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason as Error] : []))
  const refusal = errors.find((error) => classify(error) === 'refused')
  if (!refusal) return
  process.emitWarning(
    `Redis refuses the user ${target.options.username ?? 'default'} what ends a broken connection for certain ` +
      `(${refusal.message}). A command of such a connection may arrive late: it may keep a free lock until its lease ends, or a ` +
      'permit without a lease for ever. Two holders of a lock remain impossible. Grant the user +client|id +client|kill +info, and do not ' +
      'rename them.',
    { code: 'RLOCK_FENCE_REFUSED' },
  )
}
