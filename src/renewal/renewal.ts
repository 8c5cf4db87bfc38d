import type { Hold } from '../ownership/hold'
import type { ScriptCall } from '../scripts/script-runner'

/** How holds of one kind are renewed: many in one call, each answered for itself: when its lease ends now by the server's clock, or 0 when it is gone. */
export interface Renewal {
  renew(holds: readonly Hold[], lease: number): ScriptCall
}
