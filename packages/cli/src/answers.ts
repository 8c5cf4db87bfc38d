import type { Redis } from 'ioredis'
import type { Answer, Connection } from './connection'
import type { Kind } from './model'
import { inSlices } from './names'

/** What is known of a key before it is read. */
export interface Wanted {
  /** What the user or a process says of keys that could be several things. */
  readonly kind?: Kind | undefined
  /** Whether numbers and strings are read that nothing but their type says to be locks. */
  readonly all: boolean
}

export type WantedOf = (name: string) => Wanted

export const value = (answer: Answer | undefined) => (answer && 'value' in answer ? answer.value : undefined)
export const number = (answer: Answer | undefined) => {
  const given = value(answer)
  return given === undefined || given === null ? null : Number(given)
}

/** Remembers what the user may not read. */
export function noteRefusals(connection: Connection, answers: readonly Answer[]) {
  for (const answer of answers)
    if ('error' in answer && answer.error.message.startsWith('NOPERM')) {
      connection.refusedKeys = true
      connection.unseen.add(`some keys: ${answer.error.message.slice(0, 120)}`)
    }
}

/** How many channels one command asks about. */
const CHANNELS_AT_ONCE = 500

/** How many clients listen on each of the channels; null where the server does not say. */
export async function listeners(
  connection: Connection,
  node: Redis,
  channels: readonly string[],
): Promise<(number | null)[]> {
  const missing = 'how many processes wait: the right to PUBSUB NUMSUB is missing'
  const sharded = connection.publish === 'spublish'
  const nodes = connection.isCluster && !sharded ? connection.primaries() : [node]
  const command = sharded ? 'SHARDNUMSUB' : 'NUMSUB'
  const counts: (number | null)[] = []
  for (const asked of inSlices(channels, CHANNELS_AT_ONCE)) {
    const answers = await Promise.all(
      nodes.map((each) => connection.tell(each, missing, 'PUBSUB', command, ...asked)),
    )
    for (const at of asked.keys())
      counts.push(
        answers.reduce<number | null>(
          (sum, answer) =>
            sum === null || answer === undefined ? null : sum + Number((answer as unknown[])[2 * at + 1]),
          0,
        ),
      )
  }
  return counts
}
