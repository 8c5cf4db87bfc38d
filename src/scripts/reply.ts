import type { Moment } from '../util/clock'

/** The answer to a script, and what its caller must know about the connection. */
export interface Reply<Value> {
  readonly value: Value
  /** When the client sent the copy of the command that was answered. */
  readonly sent: Moment
  /** An earlier copy has no answer that counts, so it may have been applied as well. */
  readonly hasLostCopy: boolean
  /** A replica has the writes, or none needs to have them. */
  readonly acknowledged: boolean
}
