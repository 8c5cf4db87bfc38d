import { inspect } from 'node:util'
import type { Context } from '../client/context'
import type { Script } from '../scripts/script'
import { quote } from '../util/quote'
import type { WaitPolicy } from '../waiting/wait-policy'
import type { WaitTarget } from '../waiting/wait-target'
import { RequestRecord } from './request-record'

/** The answer to a change whose message was published. */
const PUBLISHED = 1
/** The answer to a change whose message the server refused (ACL). */
const UNPUBLISHED = 2
/** The answer to a change that was refused because Java could not read the number. */
const TOO_LARGE = -1

const INTERFACES = {
  semaphore: 'RSemaphore',
  permits: 'RPermitExpirableSemaphore',
  latch: 'RCountDownLatch',
}

/** What semaphores and latches share: a count without owners, whose changes are published. */
export abstract class Synchronizer {
  readonly target: WaitTarget
  readonly requests: RequestRecord

  constructor(
    readonly context: Context,
    readonly name: string,
    readonly kind: keyof typeof INTERFACES,
    readonly keys: readonly [count: string, ...others: string[]],
    channel: string,
    policy: WaitPolicy,
  ) {
    const [key] = keys
    const lockId = `${kind} ${key}`
    this.target = { lockId, key, lockIds: [lockId], channel, policy }
    this.requests = new RequestRecord(context, keys)
  }

  getName(): string {
    return this.name
  }

  /** The channel and the command by which scripts publish. */
  get messages(): readonly [channel: string, publish: string] {
    return [this.target.channel, this.context.publishCommand]
  }

  /** Takes the answer to a change. A change without a message does not tell whether the server refuses messages. */
  changed(answer: number): void {
    if (answer !== PUBLISHED && answer !== UNPUBLISHED) return
    const { context, name, target, what } = this
    const released = { result: 'freed', notified: answer === PUBLISHED ? 0 : undefined }
    context.unpublishedReleases.released({ name, channel: target.channel }, released, what)
    // The message also wakes the waiters of this client. Without a message this call does.
    if (answer === UNPUBLISHED) context.queues.mayBeFree(target)
  }

  /** The word for it in messages. */
  protected get what(): string {
    return this.kind === 'latch' ? 'latch' : 'semaphore'
  }

  protected async read<Value>(script: Script<Value>, args: readonly string[] = []): Promise<Value> {
    this.context.assertNotClosed()
    return (await this.context.scripts.run(script, this.keys, args).answer).value
  }

  /** Sends a change, and resolves with whether the server applied it. */
  protected async change(
    script: Script<number>,
    args: readonly number[],
    acknowledged = true,
  ): Promise<boolean> {
    this.context.assertOpen()
    const { value } = await this.requests.run(script, [...args, ...this.messages], acknowledged)
    if (value === TOO_LARGE) throw this.tooLarge()
    this.changed(value)
    return value > 0
  }

  protected tooLarge(): RangeError {
    return new RangeError(
      `The semaphore ${quote(this.name)} would have more permits than Java can count, 2147483647 ` +
        `(client ${this.context.clientId}). Nothing was changed.`,
    )
  }

  // A log must not show the client inside, which has credentials.
  [inspect.custom](): string {
    return `${INTERFACES[this.kind]}(${quote(this.name)})`
  }

  toJSON(): object {
    return { name: this.name }
  }
}
