import { RedisRefusedError } from '../../api/errors'
import { quote } from '../../util/quote'

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
    `Redis refused ${command.toUpperCase()} to the channel ${quote(channel)}: ${cause.message}. Callers ` +
      `that wait try every second. ${channelGrant(command, channel)}.`,
    cause.message,
    { cause },
  )
}
