import type { ReplicaAckReply, SentScript as SentSource } from '../redis/command-connection'
import type { Answered } from '../redis/fast-path/raw-command'
import type { BrokenConnection } from '../redis/fencing/fence-states'
import type { Script } from './script'

/** A script with its arguments. */
export interface SentScript extends SentSource {
  readonly script: Script
}

/** Carries a script to the server and its answer back. A parameter of the internal client. */
export interface ScriptTransport {
  /** The last connection that broke. */
  readonly lastBroken: BrokenConnection
  /** The server that runs scripts for this key: the address of a cluster node, or '' for a single server. */
  serverOf(key: string): string
  /** Whether a script can be sent now. `loading`: the server is connected but not ready yet. */
  readonly state: 'ready' | 'loading' | 'away'
  /** Why the server refuses the connection, its credentials for instance; undefined while it does not. */
  readonly refusal?: Error | undefined
  /**
   * Sends the hash of the script or, with `bySource`, its source. Calls back, perhaps in the tick in which the answer arrives:
   * a promise for each call would cost a third of the CPU of an uncontended cycle.
   */
  send(call: SentScript, bySource: boolean, answered: Answered, failed: (error: unknown) => void): void
  /** Whether the server of this key may have replicas. */
  mayHaveReplicas(key: string): boolean
  /** The same, and waits until a replica has the writes, if there are replicas. */
  sendAcknowledged(call: SentScript, bySource: boolean): Promise<ReplicaAckReply>
  /** Closes connections that went silent. */
  probe(): void
}
