import type { ScriptTransport } from '../../src/scripts/transport'

/** One script on its way to the real server. */
export interface ScriptSent {
  readonly name: string
  readonly keys: readonly string[]
  readonly args: readonly (string | number)[]
  /** With its source, because the server did not know it by its hash a moment ago. */
  readonly bySource: boolean
  /** Sends it; again means a second copy. */
  readonly pass: () => Promise<unknown>
}

/**
 * Decides when a script reaches the server, and when its real answer comes back. A tap that returns what `pass()` gave
 * it is no detour: the client is called back in the turn in which the answer comes, as in production.
 */
export type Tap = (sent: ScriptSent) => Promise<unknown>

/** For ClientInternals.transport: the real transport, with a tap in front of it. */
export function tapped(tap: Tap): (transport: ScriptTransport) => ScriptTransport {
  return (transport) => ({
    get lastBroken() {
      return transport.lastBroken
    },
    serverOf: (key) => transport.serverOf(key),
    mayHaveReplicas: (key) => transport.mayHaveReplicas?.(key) === true,
    get state() {
      return transport.state
    },
    get refusal() {
      return transport.refusal
    },
    send(call, bySource, answered, failed) {
      const { script, keys, args } = call
      const copies: Copy[] = []
      const pass = () => {
        const copy = new Copy((whenAnswered, whenFailed) =>
          transport.send(call, bySource, whenAnswered, whenFailed),
        )
        copies.push(copy)
        return copy.promise
      }
      const outcome = tap({ name: script.name, keys, args, bySource, pass })
      const copy = copies.find(({ promise }) => promise === outcome)
      if (copy) copy.callBack(answered, failed)
      else outcome.then(answered, failed)
    },
    async sendAcknowledged(call, bySource) {
      const { script, keys, args } = call
      let acknowledged = true
      const pass = async () => {
        const reply = await transport.sendAcknowledged!(call, bySource)
        acknowledged = reply.acknowledged
        return reply.value
      }
      return { value: await tap({ name: script.name, keys, args, bySource, pass }), acknowledged }
    },
    probe: () => transport.probe(),
  })
}

/** What a script was answered, and whether a replica has it. */
type Acknowledged = Awaited<ReturnType<NonNullable<ScriptTransport['sendAcknowledged']>>>

/** For ClientInternals.transport: a server that seems to have replicas. `answer` sends, and says whether one has the writes. */
export function withReplicas(
  answer: (send: () => Promise<unknown>, script: string) => Promise<Acknowledged>,
): (transport: ScriptTransport) => ScriptTransport {
  return (transport) => ({
    ...tapped((sent) => sent.pass())(transport),
    mayHaveReplicas: () => true,
    get state() {
      return transport.state
    },
    sendAcknowledged: (call, bySource) =>
      answer(
        () => new Promise((resolve, reject) => transport.send(call, bySource, resolve, reject)),
        call.script.name,
      ),
  })
}

/** One copy of a script on its way. Callbacks come before the reactions to its promise, and in the same turn. */
class Copy {
  readonly promise: Promise<unknown>
  private onAnswer: ((value: unknown) => void) | undefined
  private onFailure: ((error: unknown) => void) | undefined
  private settled = false

  constructor(send: (answered: (value: unknown) => void, failed: (error: unknown) => void) => void) {
    this.promise = new Promise((resolve, reject) =>
      send(
        (value) => {
          this.settled = true
          resolve(value)
          this.onAnswer?.(value)
        },
        (error) => {
          this.settled = true
          reject(error)
          this.onFailure?.(error)
        },
      ),
    )
  }

  callBack(answered: (value: unknown) => void, failed: (error: unknown) => void): void {
    // A connection that refuses a command at once has settled it already.
    if (this.settled) return void this.promise.then(answered, failed)
    this.onAnswer = answered
    this.onFailure = failed
    this.promise.catch(() => {})
  }
}

/** Counts the scripts of a client by name, one that the server has to be taught once, and lets them pass. */
export class ScriptCounter {
  private readonly counts = new Map<string, number>()
  readonly transport = tapped((sent) => {
    if (!sent.bySource) this.counts.set(sent.name, this.of(sent.name) + 1)
    return sent.pass()
  })

  of(name: string): number {
    return this.counts.get(name) ?? 0
  }
}

/** A promise and how to resolve it. */
export function latch(): { readonly opened: Promise<void>; open(): void } {
  let open!: () => void
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open }
}
