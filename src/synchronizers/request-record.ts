import { RedisRefusedError, RedisUnavailableError } from '../api/errors'
import type { Context } from '../client/context'
import { prefixed } from '../redis/names'
import type { Script } from '../scripts/script'
import type { AnyScriptCall, Reply, ScriptCall } from '../scripts/script-call'

/** As long as the server keeps a record after its last use (lua/includes/request-record.lua), in ms. */
const KEPT_FOR = 60_000
/**
 * For how long a change goes on being tried whose caller has learnt that the server is out of reach, in ms: with the time
 * that the calls before and after may take, less than the server keeps the record.
 */
const RETRIED_FOR = 30_000

/**
 * The first request of an object says which requests the server may forget; so does one after so many others, or after as
 * many as are open. The script looks at the whole record, and so at few requests for each.
 */
const FORGOTTEN_AFTER = 8

let lastRequest = 0

/** The requests of one client to one object whose answers it may still ask for, in their order. */
type OpenRequests = Set<number>

const recordsOf = new WeakMap<Context, Map<string, OpenRequests>>()

/**
 * Makes each request to an object without owners take effect exactly once. A count carries no identity, so a second
 * copy of a request is known by a record that its script keeps on the server, one key a client and name.
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
   * A request that may be sent several times, by one script or several. To be closed when nothing asks for it any more.
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

  /** The lowest open request, where the server is to hear of it; else 0. */
  private forgottenBelow(open: OpenRequests): number {
    if (++this.sentSinceForgotten <= Math.max(FORGOTTEN_AFTER, open.size)) return 0
    this.sentSinceForgotten = 0
    const [lowest = 0] = open
    return lowest
  }

  /** @internal Of one open request. */
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

  /** @internal The request is no longer open, at once or when no copy of it can arrive. */
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
   * The same for a change that nothing would make up for. Where it rejects with RedisUnavailableError, it goes on being
   * tried in the background, so that its caller must not repeat it. `alsoRefused`: the same where the server refused it,
   * for a caller that cannot repeat it.
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
 * A caller may repeat what the server refused. Where an earlier copy was lost with its connection, the server may have
 * applied that one, and the repetition would be a second change.
 */
function asUnknown(error: unknown, call: AnyScriptCall): unknown {
  if (!(error instanceof RedisRefusedError) || !call.connectionBroke) return error
  return new RedisUnavailableError(
    `The connection broke before the answer came, and then: ${error.message}. Whether the call took effect is not known`,
    { cause: error },
  )
}

/** One request, whose copies are known by its number. */
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
   * Nothing asks for its answer any more. `copyPossible`: a copy may still arrive, and the record must know it then.
   */
  close(copyPossible: boolean): void {
    this.record.close(this.number, this.open, copyPossible)
  }
}
