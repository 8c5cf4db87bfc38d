import { RedisRefusedError, RedisUnavailableError } from '../api/errors'
import type { Context } from '../client/context'
import { prefixed } from '../redis/names'
import type { Script } from '../scripts/script'
import type { AnyScriptCall, Reply, ScriptCall } from '../scripts/script-call'
import { perObject } from '../util/per-object'

/** How long the server keeps a record after its last use (lua/includes/request-record.lua), in ms. */
const KEPT_FOR = 60_000
/**
 * How long the client retries a change in the background after it rejected with RedisUnavailableError, in ms. Together with
 * the time of the calls before and after, it is less than the server keeps the record.
 */
const RETRIED_FOR = 30_000

/**
 * The first request sends the lowest open number, so that the server forgets all lower requests. A later one sends it after
 * this many others, or after as many as are open, whichever is more. It is rare, because the script then reads the whole
 * record.
 */
const FORGOTTEN_AFTER = 8

let lastRequest = 0

/** The open requests of one client by object, in order. The client may still send one of them again. */
type OpenRequests = Map<string, Set<number>>

const openOf = perObject((_: Context): OpenRequests => new Map())

/**
 * Makes each request to an object without owners take effect exactly once. A count has no owner, so the script recognises a
 * second copy of a request by a record on the server: one key for each client and name.
 */
export class RequestRecord {
  private readonly keys: readonly string[]
  private readonly key: string
  private readonly open: OpenRequests
  private sentSinceForgotten = FORGOTTEN_AFTER

  constructor(
    private readonly context: Context,
    keys: readonly [string, ...string[]],
  ) {
    this.key = keys[0]
    this.keys = [...keys, `${prefixed('rlock_requests', this.key)}:${context.clientId}`]
    this.open = openOf(context)
  }

  /**
   * Returns the number of a new request, by which the server recognises its copies. Several calls may send it. The caller
   * closes it when it needs no answer any more.
   */
  next(): number {
    const { open, key } = this
    const request = ++lastRequest
    const requests = open.get(key)
    if (requests) requests.add(request)
    else open.set(key, new Set([request]))
    return request
  }

  /** Sends a script whose last key is the record, and whose last arguments are the request and the lowest open one. */
  send<Value>(
    script: Script<Value>,
    args: readonly (string | number)[],
    request: number,
    acknowledged = false,
  ): ScriptCall<Value> {
    const all = [...args, request, this.forgottenBelow()]
    return this.context.scripts.run(script, this.keys, all, acknowledged)
  }

  /** Closes a request: at once or, with `copyPossible`, when no copy of it can arrive any more. */
  close(request: number, copyPossible: boolean): void {
    const { context, key, open } = this
    const forget = () => {
      const requests = open.get(key)
      requests?.delete(request)
      if (requests?.size === 0) open.delete(key)
    }
    if (copyPossible) context.clock.after(KEPT_FOR, forget)
    else forget()
  }

  /** The lowest open number, if the next request should send it; else 0. */
  private forgottenBelow(): number {
    const requests = this.open.get(this.key)
    if (!requests || ++this.sentSinceForgotten <= Math.max(FORGOTTEN_AFTER, requests.size)) return 0
    this.sentSinceForgotten = 0
    const [lowest = 0] = requests
    return lowest
  }

  /** Sends a new request once. */
  async run<Value>(
    script: Script<Value>,
    args: readonly (string | number)[],
    acknowledged = false,
  ): Promise<Reply<Value>> {
    const request = this.next()
    const call = this.send(script, args, request, acknowledged)
    call.onFinished((reply) => this.close(request, reply === undefined || call.lateCopyPossible))
    try {
      return await call.answer
    } catch (error) {
      throw asUnknown(error, call)
    }
  }

  /**
   * The same for a change that must not get lost. After it rejects with RedisUnavailableError, the client goes on to retry it
   * in the background, so its caller must not repeat it. `alsoRefused`: the same after a refusal, for a caller that cannot
   * repeat it.
   */
  async insist<Value>(
    script: Script<Value>,
    args: readonly (string | number)[],
    acknowledged = false,
    alsoRefused = false,
  ): Promise<Reply<Value>> {
    const { orphans, clock } = this.context
    const request = this.next()
    const call = this.send(script, args, request, acknowledged)
    try {
      const reply = await call.answer
      this.close(request, call.lateCopyPossible)
      return reply
    } catch (reason) {
      this.close(request, true)
      const error = asUnknown(reason, call)
      if (error instanceof RedisUnavailableError || (alsoRefused && error instanceof RedisRefusedError)) {
        const release = async () => void (await this.send(script, args, request, acknowledged).answer)
        orphans.hold({ lease: RETRIED_FOR, release }, clock.now())
      }
      throw error
    }
  }
}

/**
 * A caller may repeat a change that the server refused. If an earlier copy was lost with its connection, the server may have
 * applied that copy, and a repeated change would be a second one. So the caller must learn that the result is unknown.
 */
function asUnknown(error: unknown, call: AnyScriptCall): unknown {
  if (!(error instanceof RedisRefusedError) || !call.connectionBroke) return error
  return new RedisUnavailableError(
    `The connection broke before the answer came, so the call may have been applied. The next copy was refused: ${error.message}`,
    { cause: error },
  )
}
