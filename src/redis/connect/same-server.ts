import type { Redis } from 'ioredis'
import type { Clock } from '../../util/clock'
import { handshakes } from './ioredis-internals'

/** Each time the name led the companion to the same other server, so this try is one of the commands. */
const TRY_OF_THE_COMMANDS = 4
const TRIES = 5
const FIRST_PAUSE = 500

/**
 * Keeps a companion of the command connection on the same server. A name or a proxy may move to another
 * server while the old one lives on, and then connections to the old one do not break. Where the two servers
 * differ, the companion connects again. If the name leads it to the other server each time, the commands
 * connect again. After each try the next one comes twice as late. After the last one both stay where they are
 * until one of them breaks, because a service may spread its connections over servers.
 */
export function keepOnOneServer(commands: Redis, companion: Redis, clock: Clock): void {
  let tries = 0
  /** The connection that this function has closed, until it is ready again. */
  let reopening: Redis | undefined
  const areApart = () =>
    commands.status === 'ready' && companion.status === 'ready' && !isOneServer(commands, companion)
  const compare = (opened: Redis) => {
    // A connection that broke by itself may lead elsewhere, so the tries begin anew.
    if (opened !== reopening) tries = 0
    reopening = undefined
    if (!areApart() || tries === TRIES) return
    const pause = tries === 0 ? 0 : FIRST_PAUSE * 2 ** (tries - 1)
    clock.after(pause, () => {
      // Meanwhile one of them may have reconnected, or a later comparison may have closed one.
      if (!areApart() || reopening) return
      tries++
      reopening = tries === TRY_OF_THE_COMMANDS ? commands : companion
      reopening.disconnect(true)
    })
  }
  for (const each of [commands, companion]) each.on('ready', () => compare(each))
}

/** By the run ids or, where the user may not ask for them, by the addresses of the sockets. */
function isOneServer(one: Redis, other: Redis): boolean {
  const [first, second] = [handshakes.get(one)?.runId, handshakes.get(other)?.runId]
  if (first !== undefined && second !== undefined) return first === second
  return addressOf(one) === addressOf(other)
}

function addressOf({ stream: { remoteAddress, remotePort } }: Redis): string {
  return `${remoteAddress}:${remotePort}`
}
