import type { ScriptTransport } from '../../src/scripts/script-transport'

/**
 * Notes the name of every script that a client sends, so that a test can tell "asked the server" from
 * "answered here". Hand its `transport` to createRedisson; the scripts go to the real server.
 */
export class SentScripts {
  readonly names: string[] = []

  readonly transport = (inner: ScriptTransport): ScriptTransport => {
    const { names } = this
    return {
      get breaks() {
        return inner.breaks
      },
      get state() {
        return inner.state
      },
      send(script, ...rest) {
        names.push(script.name)
        return inner.send(script, ...rest)
      },
      sendAcknowledged(script, ...rest) {
        names.push(script.name)
        return inner.sendAcknowledged(script, ...rest)
      },
      probe: () => inner.probe(),
    }
  }
}
