import { RedisRefusedError, RedisUnavailableError } from '../api/errors'
import type { Client } from '../client/client'
import { requestsKey } from '../scripts/key-names'
import type { Script } from '../scripts/script'
import type { AnyScriptCall } from '../scripts/script-call'
import { perObject } from '../util/per-object'

/**
 * How long the client retries a change in the background after it rejected with RedisUnavailableError, in ms
 * since it was first sent. The server keeps a record for a minute after its last use
 * (lua/includes/request-record.lua). A retry after that minute would be applied a second time.
 */
export const RETRIED_FOR = 30_000

const NOT_TO_BE_REPEATED = ' Do not repeat the call: the client retries it in the background.'

/** The errors after which the client goes on to send a change in the background, so that it is not lost. */
export type Retried = readonly (typeof RedisUnavailableError | typeof RedisRefusedError)[]
/** After it the caller must not repeat the change. */
export const UNAVAILABLE: Retried = [RedisUnavailableError]
/** For a caller that cannot repeat the change. */
export const ALSO_REFUSED: Retried = [RedisUnavailableError, RedisRefusedError]

/** The server may have forgotten the request, so it is not sent any more. */
const GIVEN_UP = { acknowledged: true }

type Arguments = readonly (string | number)[]

/** A request. Several calls may send it. */
export type Request = ReturnType<RequestRecord['open']>

/** The slots of one client at one object, while it has open requests there. */
interface Slots {
  readonly free: number[]
  count: number
}

const requestsOf = perObject((_: Client) => ({ last: 0, slots: new Map<string, Slots>() }))

/**
 * Makes each request to an object without owners take effect exactly once. A count has no owner, so the
 * script recognises a second copy of a request by a record on the server: one key for each client and name.
 */
export class RequestRecord {
  private readonly keys: readonly string[]
  private readonly key: string
  private readonly requests: ReturnType<typeof requestsOf>

  constructor(
    private readonly client: Client,
    keys: readonly [string, ...string[]],
  ) {
    this.key = keys[0]
    this.keys = [...keys, `${requestsKey(this.key)}:${client.clientId}`]
    this.requests = requestsOf(client)
  }

  /**
   * A new request. Its caller closes it when it needs no answer any more. `slot`: its field in the record,
   * the lowest that no other open request of this client to this object has. `number`: higher than those of
   * all earlier requests of this client.
   */
  open() {
    const { requests, key } = this
    const { slots } = requests
    const own = slots.get(key) ?? { free: [], count: 0 }
    slots.set(key, own)
    return { slot: own.free.pop() ?? own.count++, number: ++requests.last }
  }

  /** The next request may have its slot. A late copy of the closed one is recognised by its lower number. */
  close({ slot }: Request): void {
    const own = this.requests.slots.get(this.key)!
    own.free.push(slot)
    if (own.free.length === own.count) this.requests.slots.delete(this.key)
  }

  /** Sends a script whose last key is the record, and whose last arguments are the request. */
  send<Value>(script: Script<Value>, args: Arguments, { slot, number }: Request, acknowledged = false) {
    return this.client.scripts.run(script, this.keys, [...args, slot, number], acknowledged)
  }

  /** Sends a new request. */
  async run<Value>(script: Script<Value>, args: Arguments, acknowledged = false, retried: Retried = []) {
    const { orphans, clock } = this.client
    const request = this.open()
    const call = this.send(script, args, request, acknowledged)
    let retries: Promise<void> | undefined
    let since = call.started
    // By the clock that advanced more: the process may have stood still, or its wall clock may have stepped
    // back.
    const isRecorded = () => clock.elapsedSince(since) < RETRIED_FOR
    const again = async () =>
      isRecorded() ? await this.send(script, args, request, acknowledged).answer : GIVEN_UP
    try {
      const reply = await call.answer
      if (!reply.acknowledged) retries = orphans.untilReplicated(again, RETRIED_FOR)
      return reply
    } catch (reason) {
      const error = asUnknown(reason, call)
      // The server cannot have applied a call that was never sent, however long ago the caller made it.
      if (!call.mayHaveBeenApplied) since = clock.now()
      if (retried.some((kind) => error instanceof kind) && isRecorded()) {
        if (error instanceof RedisUnavailableError) error.message += NOT_TO_BE_REPEATED
        retries = orphans.untilReplicated(again, RETRIED_FOR)
      }
      throw error
    } finally {
      const close = () => this.close(request)
      if (retries) retries.then(close)
      else call.onFinished(close)
    }
  }
}

/**
 * A caller may repeat a change that the server refused. If an earlier copy has no answer that counts, the
 * server may have applied that copy, and a repeated change would be a second one. So the caller must learn
 * that the result is unknown.
 */
export function asUnknown(error: unknown, call: AnyScriptCall): unknown {
  if (!(error instanceof RedisRefusedError) || !call.hasLostCopy) return error
  return new RedisUnavailableError(
    `The answer was lost, so the call may have been applied. Its next copy was refused: ${error.message}`,
    { cause: error },
  )
}
