import type { Redis } from 'ioredis'
import { RedisRefusedError } from '../api/errors'
import type { Clock } from '../util/clock'
import { quote } from '../util/quote'
import { inTime } from './connect'
import { classify } from './errors'
import type { PublishCommand } from './pubsub'
import type { RedisTarget } from './target'

/** The pattern of all channels of one kind, such as `redisson_lock__channel:*`. */
export function channelPattern(channel: string): string {
  return channel.replace(/^([^:{]*:?).*$/s, '$1*')
}

/** The effect on waiters while the server does not publish releases. */
export const UNNOTIFIED =
  'waiting clients are not notified: each sleeps until the lease that it read has ended, or until its next try'

/** The advice how to let a user send this command on these channels. */
export function channelGrant(command: string, patterns: readonly string[]): string {
  const channels = patterns.map((pattern) => `&${pattern}`).join(' ')
  return `Grant the user +${command} ${channels}, and do not rename ${command.toUpperCase()}`
}

/** The server refused to subscribe to this channel. */
export function subscribeRefused(channel: string, isSharded: boolean, cause: Error): RedisRefusedError {
  const command = isSharded ? 'ssubscribe' : 'subscribe'
  return new RedisRefusedError(
    `Redis refused ${command.toUpperCase()} to the channel ${quote(channel)}: ${cause.message}. Callers that wait try every ` +
      `second. ${channelGrant(command, [channelPattern(channel)])}.`,
    cause.message,
    { cause },
  )
}

/** What the fence of a broken connection calls (fencing/connection-fence.ts). No connection has this id, so none is killed. */
const FENCE = [
  ['CLIENT', 'ID'],
  ['CLIENT', 'KILL', 'ID', String(Number.MAX_SAFE_INTEGER)],
  ['INFO', 'server'],
] as const

/**
 * Emits a process warning for each missing right that locks need. For scripts and messages the server must have ACL DRYRUN,
 * and the user must be allowed to call it. Never rejects: without an answer, the first lock or the first release reports
 * the missing right. `channels`: one channel of each kind on which locks and synchronizers publish.
 */
export async function warnOfMissingRights(
  redis: Redis,
  target: RedisTarget,
  publish: PublishCommand,
  channels: readonly string[],
  clock: Clock,
): Promise<void> {
  const patterns = channels.map(channelPattern)
  const user = target.options.username ?? 'default'
  const ask: Ask = (command, ...words) => inTime(redis.call(command, ...words), target, clock)
  const [scripts, messages, ...fence] = await Promise.all([
    dryRun(ask, user, ['EVALSHA', 'no-such-script', '0']),
    dryRun(ask, user, [publish, channels[0]!, '0']),
    ...FENCE.map((command) => refusal(ask, command)),
  ])
  if (scripts !== undefined)
    process.emitWarning(
      `Redis refuses EVALSHA to the user ${user} (${scripts}): every lock will reject with RedisRefusedError. ` +
        'Grant the user +evalsha +eval, and do not rename them.',
      { code: 'RLOCK_EVALSHA_REFUSED' },
    )
  if (messages !== undefined && !(await mayPublishOnSomeChannel(ask, user, patterns, messages)))
    process.emitWarning(
      `Redis refuses ${publish.toUpperCase()} to the user ${user} (${messages}). A released lock is free, but ${UNNOTIFIED}. ` +
        `${channelGrant(publish, patterns)}.`,
      { code: 'RLOCK_PUBLISH_REFUSED' },
    )
  const unfenced = fence.find((reason) => reason !== undefined)
  if (unfenced !== undefined)
    process.emitWarning(
      `Redis refuses the user ${user} what ends a broken connection for certain (${unfenced}). A command of such a ` +
        'connection may arrive late: it may keep a free lock until its lease ends, or a permit without a lease for ever. ' +
        'Two holders remain impossible. Grant the user +client|id +client|kill +info, and do not rename them.',
      { code: 'RLOCK_FENCE_REFUSED' },
    )
}

type Ask = (command: string, ...words: string[]) => Promise<unknown>

/** Why the server refuses the command; undefined if it does not, or does not answer. */
async function refusal(ask: Ask, [command, ...words]: readonly [string, ...string[]]) {
  try {
    await ask(command, ...words)
    return undefined
  } catch (error) {
    return classify(error) === 'refused' ? (error as Error).message : undefined
  }
}

/** Why the server would refuse the command; undefined if it would not, or does not say. */
async function dryRun(ask: Ask, user: string, command: readonly string[]): Promise<string | undefined> {
  try {
    const answer = String(await ask('ACL', 'DRYRUN', user, ...command))
    return answer === 'OK' ? undefined : answer
  } catch (error) {
    const { message } = error as Error
    return /Command '.*' not found/.test(message) ? message : undefined
  }
}

/** The probe used an invented name. The user may have the right to the channels of its own objects only. */
async function mayPublishOnSomeChannel(
  ask: Ask,
  user: string,
  patterns: readonly string[],
  refusal: string,
): Promise<boolean> {
  if (!refusal.endsWith('channel')) return false
  try {
    const rules = JSON.stringify(await ask('ACL', 'GETUSER', user))
    const granted = [...rules.matchAll(/&([^\s"*?[\\]*)/g)].map(([, head = '']) => head)
    return granted.some((head) =>
      patterns.some((channel) => head.startsWith(channel.slice(0, -1)) || channel.startsWith(head)),
    )
  } catch {
    return true
  }
}
