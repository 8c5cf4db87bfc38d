import { inspect } from 'node:util'
import type { LockTimeoutError } from '../api/errors'
import type { Client } from '../client/client'
import type { Script } from '../scripts/script'
import { quote } from '../util/quote'
import { random } from '../util/random'
import type { WaitTarget } from '../waiting/admission'
import type { Attempt, WaitResult } from '../waiting/attempt'
import { timedOut } from '../waiting/wait-errors'
import { RequestRecord, type Retried } from './request-record'

/** The answer to a change that was refused because Java could not read the number. */
const TOO_LARGE = -1

/** The longest sleep of the first waiter of a process, in ms, where no lease ends it. */
const RECHECK_WITHIN = 30_000

/**
 * How long to sleep where no lease ends it, in ms. The time is random, so that processes that fell asleep
 * together do not try together.
 */
export function untilRecheck(): number {
  return RECHECK_WITHIN * (0.8 + random() / 5)
}

/** A kind of synchronizer. `what` and `interfaceName`: for messages and for logs. */
interface Kind extends Pick<WaitTarget, 'kind'> {
  readonly what: 'semaphore' | 'latch' | 'rate limiter'
  readonly interfaceName: string
}

/** What semaphores, latches and rate limiters share: a count without owners, whose changes are published. */
export abstract class Synchronizer {
  readonly target: WaitTarget
  readonly requests: RequestRecord

  constructor(
    readonly client: Client,
    readonly name: string,
    readonly kind: Kind,
    readonly keys: readonly [count: string, ...others: string[]],
    waits: Pick<WaitTarget, 'channel' | 'takesTurns' | 'admission'>,
  ) {
    const [key] = keys
    const { what } = kind
    const objectId = `${kind.kind} ${key}`
    const subject = `${what === 'latch' ? 'the' : 'permits of the'} ${what} ${quote(name)}`
    const names = { kind: kind.kind, name, objectId, relatedIds: [objectId], key, subject }
    this.target = { ...waits, ...names }
    this.requests = new RequestRecord(client, keys)
  }

  getName(): string {
    return this.name
  }

  // A log must not show the client inside, which has credentials.
  [inspect.custom](): string {
    return `${this.kind.interfaceName}(${quote(this.name)})`
  }

  toJSON(): object {
    return { name: this.name }
  }
}

// Functions and no methods, so that a semaphore or a latch has no method that its type does not have.

/** The channel and the command by which scripts publish. */
export function messagesOf({ target, client }: Synchronizer): readonly [channel: string, publish: string] {
  return [target.channel, client.publishCommand]
}

/**
 * Waits in the queue. `given`: the waitTime of the call. A call without one has that of the client, and
 * rejects after it.
 */
export function enter<Grant>(
  synchronizer: Synchronizer,
  attempt: Attempt<Grant>,
  given: number | undefined,
  target = synchronizer.target,
): Promise<WaitResult<Grant>> {
  const { client } = synchronizer
  const { waitTime } = attempt
  const entered = client.acquire(target, attempt)
  if (given !== undefined || waitTime === Number.POSITIVE_INFINITY) return entered
  return entered.then((reply) => {
    if (!reply) throw waitIsOver(synchronizer, waitTime)
    return reply
  })
}

export function waitIsOver({ kind, name, client }: Synchronizer, waitTime = 0): LockTimeoutError {
  return timedOut(kind.what, name, waitTime, client.clientId)
}

export async function read<Value>(
  { client, keys }: Synchronizer,
  script: Script<Value>,
  args: readonly string[] = [],
): Promise<Value> {
  return (await client.scripts.run(script, keys, args).answer).value
}

/** Sends a change, and resolves with whether the server applied it. */
export async function change(
  synchronizer: Synchronizer,
  script: Script<number>,
  args: readonly number[],
  acknowledged = true,
  retried: Retried = [],
): Promise<boolean> {
  const { client, requests, target } = synchronizer
  client.assertOpen()
  const asked = [...args, ...messagesOf(synchronizer)]
  const { value } = await requests.run(script, asked, acknowledged, retried)
  if (value === TOO_LARGE) throw tooMany(synchronizer)
  client.queues.changed(target, value)
  return value > 0
}

export function tooMany({ name, client }: Synchronizer): RangeError {
  return new RangeError(
    `The semaphore ${quote(name)} would have more permits than Java can count, 2147483647 ` +
      `(client ${client.clientId}). Nothing was changed.`,
  )
}
