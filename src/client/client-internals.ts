import type { ScriptTransport } from '../scripts/transport'
import type { Clock } from '../util/clock'

/** Test hooks. */
export interface ClientInternals {
  readonly clock?: Clock
  readonly newClientId?: () => string
  /** Wraps the transport that carries scripts to the server. */
  readonly transport?: (transport: ScriptTransport) => ScriptTransport
  readonly silentAfter?: number
}
