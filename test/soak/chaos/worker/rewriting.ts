import type { ScriptTransport, SentScript } from '../../../../src/scripts/transport'

/** Sends another source for one script. */
export function rewriting(name: string, rewrite: (source: string) => string) {
  return (transport: ScriptTransport): ScriptTransport => {
    const broken = (script: SentScript['script']): SentScript['script'] => {
      const source = rewrite(script.source)
      if (source === script.source) throw new Error(`the mutant finds nothing to change in ${name}`)
      return { ...script, source }
    }
    // Always with its source: the hash is the sound script's.
    return around(transport, {
      send: (call, bySource, answered, failed) =>
        call.script.name === name
          ? transport.send({ ...call, script: broken(call.script) }, true, answered, failed)
          : transport.send(call, bySource, answered, failed),
      sendAcknowledged: (call, bySource) =>
        call.script.name === name
          ? transport.sendAcknowledged({ ...call, script: broken(call.script) }, true)
          : transport.sendAcknowledged(call, bySource),
    })
  }
}

/** The transport, with another way of sending. */
export function around(
  transport: ScriptTransport,
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
    sendAcknowledged: changed.sendAcknowledged ?? ((...call) => transport.sendAcknowledged(...call)),
    probe: () => transport.probe(),
  }
}
