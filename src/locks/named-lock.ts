import type { Context } from '../client/context'
import { ownerField } from '../ownership/owner-field'
import { quote } from '../util/quote'

/** The names of one lock, in its client and in Redis. */
export abstract class NamedLock {
  readonly relatedIds: readonly string[]
  protected readonly keys: readonly string[]

  /** `others`: the ids of the queues and of the sides whose waiters may enter when this lock is free. */
  constructor(
    readonly name: string,
    readonly key: string,
    protected readonly context: Context,
    readonly objectId: string,
    readonly channel: string,
    ...others: readonly string[]
  ) {
    this.relatedIds = [objectId, ...others]
    this.keys = [key]
  }

  /** For messages. */
  get subject(): string {
    return `the lock ${quote(this.name)}`
  }

  /** The hash field that stands for one holder. */
  ownerField(threadId: number): string {
    return ownerField(this.context.clientId, threadId)
  }
}
