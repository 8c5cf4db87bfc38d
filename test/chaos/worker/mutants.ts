import type { ClientInternals } from '../../../src/client'
import { SubscriberConnection } from '../../../src/connection/subscriber-connection'
import { GivingBack } from '../../../src/locks/giving-back'
import { Hold } from '../../../src/ownership/hold'
import type { Script } from '../../../src/scripts/script'
import type { ScriptTransport } from '../../../src/scripts/script-transport'

/** Locks broken on purpose: a checker that lets one of them pass proves nothing. */
export const MUTANTS = {
  'give-up-forgotten': 'an acquisition given up while it is under way is not released when it is granted',
  'release-of-anybody': 'a late release frees the lock whoever holds it by now',
  'renewal-not-sent': 'the watchdog believes in renewals that never reached the server',
  'loss-unnoticed': 'a hold does not look at its deadline',
  'hand-over-frees': 'a hand-over also releases the lock that it hands over',
  'deaf-after-reconnect': 'a broken subscription is taken for a live one',
} as const

export type MutantName = keyof typeof MUTANTS

/** What the client is made with so that it has this fault. Some of it is done to the classes themselves. */
export function mutated(mutant: MutantName | undefined): ClientInternals {
  switch (mutant) {
    case undefined:
      return {}
    case 'give-up-forgotten':
      Object.assign(GivingBack.prototype, { attempt() {} })
      return {}
    case 'release-of-anybody':
      return { transport: rewriting('lock/release', freeAnyway) }
    case 'renewal-not-sent':
      return { transport: withoutRenewals }
    case 'hand-over-frees':
      return { transport: rewriting('lock/hand-over', freeAsWell) }
    case 'loss-unnoticed':
      Object.defineProperty(Hold.prototype, 'isPastDeadline', { get: () => false })
      return {}
    case 'deaf-after-reconnect':
      // What was subscribed before the break counts as subscribed after it.
      Object.assign(SubscriberConnection.prototype, { forget() {} })
      return {}
  }
}

const freeAnyway = (source: string): string => source.replace("'hdel', KEYS[1], ARGV[1]", "'del', KEYS[1]")
const freeAsWell = (source: string): string => source.replace("'pexpire', KEYS[1], ARGV[3]", "'del', KEYS[1]")

function rewriting(name: string, rewrite: (source: string) => string) {
  return (transport: ScriptTransport): ScriptTransport => {
    const broken = (script: Script): Script => {
      if (script.name !== name) return script
      const source = rewrite(script.source)
      if (source === script.source) throw new Error(`the mutant finds nothing to change in ${name}`)
      return { ...script, source }
    }
    return around(transport, {
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

const withoutRenewals = (transport: ScriptTransport): ScriptTransport =>
  around(transport, {
    send: async (script, bySource, keys, args) =>
      script.name.endsWith('/renew')
        ? keys.map(() => Date.now() + Number(args[0]))
        : await transport.send(script, bySource, keys, args),
  })

function around(
  transport: ScriptTransport,
  changed: Partial<Pick<ScriptTransport, 'send' | 'sendAcknowledged'>>,
): ScriptTransport {
  return {
    get breaks() {
      return transport.breaks
    },
    get state() {
      return transport.state
    },
    send: changed.send ?? ((...call) => transport.send(...call)),
    sendAcknowledged: changed.sendAcknowledged ?? ((...call) => transport.sendAcknowledged(...call)),
    probe: () => transport.probe(),
  }
}
