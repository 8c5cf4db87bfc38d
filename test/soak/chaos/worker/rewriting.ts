import type { Script } from '../../../../src/scripts/script'
import type { ScriptTransport } from '../../../../src/scripts/transport'

/** Sends another source for one script. */
export function rewriting(name: string, rewrite: (source: string) => string) {
  return (transport: ScriptTransport): ScriptTransport => {
    const broken = (script: Script): Script => {
      if (script.name !== name) return script
      const source = rewrite(script.source)
      if (source === script.source) throw new Error(`the mutant finds nothing to change in ${name}`)
      return { ...script, source }
    }
    return around(transport, (script) => script.name === name, {
      // Always with its source: the hash is the sound script's.
      send: (script, bySource, keys, args) =>
        script.name === name
          ? transport.send(broken(script), true, keys, args)
          : transport.send(script, bySource, keys, args),
      sendAcknowledged: (script, bySource, keys, args) =>
        script.name === name
          ? transport.sendAcknowledged(broken(script), true, keys, args)
          : transport.sendAcknowledged(script, bySource, keys, args),
    })
  }
}

/** The transport, with another way of sending some scripts. */
export function around(
  transport: ScriptTransport,
  changes: (script: Script) => boolean,
  changed: Partial<Pick<ScriptTransport, 'send' | 'sendAcknowledged'>>,
): ScriptTransport {
  return {
    get lastBroken() {
      return transport.lastBroken
    },
    serverOf: (key) => transport.serverOf(key),
    mayHaveReplicas: (key) => transport.mayHaveReplicas(key),
    get state() {
      return transport.state
    },
    get refusal() {
      return transport.refusal
    },
    send: changed.send ?? ((...call) => transport.send(...call)),
    // Untouched scripts are answered by callback, as in production.
    post(script, bySource, keys, args, answered, failed) {
      if (changes(script)) this.send(script, bySource, keys, args).then(answered, failed)
      else transport.post!(script, bySource, keys, args, answered, failed)
    },
    sendAcknowledged: changed.sendAcknowledged ?? ((...call) => transport.sendAcknowledged(...call)),
    probe: () => transport.probe(),
  }
}
