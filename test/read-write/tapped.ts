import type { AcknowledgedAnswer } from '../../src/connection/acknowledged-connection'
import type { ScriptTransport } from '../../src/scripts/script-transport'

/** One script on its way to the real server. */
export interface Sent {
  readonly name: string
  readonly keys: readonly string[]
  readonly args: readonly (string | number)[]
  /** Sends it; again means a second copy. */
  readonly pass: () => Promise<unknown>
}

/** For ClientInternals.transport: decides when a script reaches the real server, and when its answer comes back. */
export function tapped(
  tap: (sent: Sent) => Promise<unknown>,
): (transport: ScriptTransport) => ScriptTransport {
  return (transport) => ({
    get breaks() {
      return transport.breaks
    },
    get state() {
      return transport.state
    },
    send: (script, bySource, keys, args) =>
      tap({ name: script.name, keys, args, pass: () => transport.send(script, bySource, keys, args) }),
    sendAcknowledged: (script, bySource, keys, args) => {
      const pass = () => transport.sendAcknowledged(script, bySource, keys, args)
      return tap({ name: script.name, keys, args, pass }) as Promise<AcknowledgedAnswer>
    },
    probe: () => transport.probe(),
  })
}

/** Notes the scripts of a client, and lets them pass. */
export class ScriptLog {
  readonly sent: Sent[] = []
  readonly transport = tapped((sent) => {
    this.sent.push(sent)
    return sent.pass()
  })

  count(name: string): number {
    return this.sent.filter((each) => each.name === name).length
  }
}
