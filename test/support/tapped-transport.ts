import type { ScriptTransport } from '../../src/scripts/script-transport'

/** One script on its way to the real server. */
export interface ScriptSent {
  readonly name: string
  readonly keys: readonly string[]
  readonly args: readonly (string | number)[]
  /** Sends it; again means a second copy. */
  readonly pass: () => Promise<unknown>
}

/** Decides when a script reaches the server, and when its real answer comes back. */
export type Tap = (sent: ScriptSent) => Promise<unknown>

/** For ClientInternals.transport: the real transport, with a tap in front of it. */
export function tapped(tap: Tap): (transport: ScriptTransport) => ScriptTransport {
  return (transport) => ({
    get breaks() {
      return transport.breaks
    },
    get state() {
      return transport.state
    },
    send: (script, bySource, keys, args) =>
      tap({ name: script.name, keys, args, pass: () => transport.send(script, bySource, keys, args) }),
    async sendAcknowledged(script, bySource, keys, args) {
      return { value: await this.send(script, bySource, keys, args), acknowledged: true }
    },
    probe: () => transport.probe(),
  })
}

/** Counts the scripts of a client by name, and lets them pass. */
export class ScriptCounter {
  private readonly counts = new Map<string, number>()
  readonly transport = tapped((sent) => {
    this.counts.set(sent.name, this.of(sent.name) + 1)
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
