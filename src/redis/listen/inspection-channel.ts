import type { Redis } from 'ioredis'
import { speaksResp3 } from '../connect/ioredis-internals'
import type { Inspected } from '../reports/connected-client'

/**
 * The channel on which an inspector asks the processes what they hold. They answer on
 * `rlock:inspect:<id of the request>`.
 */
export const INSPECT_CHANNEL = 'rlock:inspect'

/**
 * Listens to inspectors on a connection that exists for something else, and answers on `commands`. Where both
 * are one connection, only RESP3 lets it listen. A missing right costs the answer and nothing else.
 */
export function answerInspectors(subscriber: Redis, commands: Redis, inspected: Inspected): void {
  const listen = () => {
    if (subscriber !== commands || speaksResp3(subscriber))
      subscriber.subscribe(INSPECT_CHANNEL).catch(() => {})
  }
  if (subscriber.status === 'ready') listen()
  subscriber.on('ready', listen)
  subscriber.on('message', (channel: string, text: string) => {
    const answer = channel === INSPECT_CHANNEL ? inspected(text) : undefined
    if (answer) commands.publish(...answer).catch(() => {})
  })
}
