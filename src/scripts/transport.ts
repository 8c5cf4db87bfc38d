import type { ReplicaAckConnection } from '../redis/replica-ack/connection'
import type { CommandConnection } from '../redis/send/command-connection'

/**
 * Carries a script to the server and its answer back. A parameter of the internal client. Where no answer
 * waits for replicas, it has no methods for that.
 */
export type ScriptTransport = Pick<
  CommandConnection,
  'lastBroken' | 'serverOf' | 'state' | 'refusal' | 'send' | 'probe'
> &
  Partial<Pick<ReplicaAckConnection, 'mayHaveReplicas' | 'sendAcknowledged'>>
