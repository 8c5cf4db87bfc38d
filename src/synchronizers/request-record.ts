import { RedisRefusedError, RedisUnavailableError } from '../api/errors'
import type { Context } from '../client/context'
import { prefixed } from '../redis/names'
import type { Script } from '../scripts/script'
import type { AnyScriptCall, Reply, ScriptCall } from '../scripts/script-call'

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

/** The open requests of one client to one object, in order. The client may still send one of them again. */
type OpenRequests = Set<number>

const recordsOf = new WeakMap<Context, Map<string, OpenRequests>>()

/**
 * Makes each request to an object without owners take effect exactly once. A count has no owner, so the script recognises a
 * second copy of a request by a record on the server: one key for each client and name.
 */
export class RequestRecord {
  private readonly keys: readonly string[]
  private readonly openByKey: Map<string, OpenRequests>
  private sentSinceForgotten = FORGOTTEN_AFTER

  constructor(
    private readonly context: Context,
    keys: readonly string[],
  ) {
    const [key = ''] = keys
    this.keys = [...keys, `${prefixed('rlock_requests', key)}:${context.clientId}`]
    let openByKey = recordsOf.get(context)
    if (!openByKey) {
      openByKey = new Map()
      recordsOf.set(context, openByKey)
    }
    this.openByKey = openByKey
  }

  /**
   * Opens a request, which several calls may send. The caller closes it when it needs no answer any more.
   */
  open(): OpenRequest {
    const { openByKey } = this
    const request = ++lastRequest
    const key = this.keys[0]!
    let open = openByKey.get(key)
    if (!open) {
      open = new Set()
      openByKey.set(key, open)
    }
    open.add(request)
    return new OpenRequest(this, request, open)
  }

  /** The lowest open number, if this request should send it; else 0. */
  private forgottenBelow(open: OpenRequests): number {
    if (++this.sentSinceForgotten <= Math.max(FORGOTTEN_AFTER, open.size)) return 0
    this.sentSinceForgotten = 0
    const [lowest = 0] = open
    return lowest
  }

  /** @internal Sends a script for one open request. */
  send<Value>(
    script: Script<Value>,
    args: readonly (string | number)[],
    request: number,
    open: OpenRequests,
    acknowledged: boolean,
  ): ScriptCall<Value> {
    const all = [...args, request, this.forgottenBelow(open)]
    return this.context.scripts.run(script, this.keys, all, acknowledged)
  }

  /** @internal Closes a request: at once or, with `copyPossible`, when no copy of it can arrive any more. */
  close(request: number, open: OpenRequests, copyPossible: boolean): void {
    const { context, keys, openByKey } = this
    const forget = () => {
      if (open.delete(request) && open.size === 0 && openByKey.get(keys[0]!) === open)
        openByKey.delete(keys[0]!)
    }
    if (copyPossible) context.clock.after(KEPT_FOR, forget)
    else forget()
  }

  /** Sends a script whose last key is the record, and whose last arguments are the request and the lowest open one. */
  async run<Value>(
    script: Script<Value>,
    args: readonly (string | number)[],
    acknowledged = false,
  ): Promise<Reply<Value>> {
    const request = this.open()
    const call = request.send(script, args, acknowledged)
    call.onFinished((reply) => request.close(reply === undefined || call.lateCopyPossible))
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
    const request = this.open()
    const call = request.send(script, args, acknowledged)
    try {
      const reply = await call.answer
      request.close(call.lateCopyPossible)
      return reply
    } catch (reason) {
      request.close(true)
      const error = asUnknown(reason, call)
      if (error instanceof RedisUnavailableError || (alsoRefused && error instanceof RedisRefusedError)) {
        const release = async () => void (await request.send(script, args, acknowledged).answer)
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

/** One request. The server recognises its copies by its number. */
export class OpenRequest {
  constructor(
    private readonly record: RequestRecord,
    private readonly number: number,
    private readonly open: OpenRequests,
  ) {}

  send<Value>(
    script: Script<Value>,
    args: readonly (string | number)[],
    acknowledged = false,
  ): ScriptCall<Value> {
    return this.record.send(script, args, this.number, this.open, acknowledged)
  }

  /**
   * The caller needs no answer any more. `copyPossible`: a copy may still arrive, so the record must keep the request.
   */
  close(copyPossible: boolean): void {
    this.record.close(this.number, this.open, copyPossible)
  }
}
