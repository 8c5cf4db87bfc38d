import type { CommandConnection } from '../redis/send/command-connection'

export type { SentScript } from '../redis/send/command-connection'

/** Carries a script to the server and its answer back. A parameter of the internal client. */
export type ScriptTransport = Pick<
  CommandConnection,
  'lastBroken' | 'serverOf' | 'state' | 'refusal' | 'send' | 'mayHaveReplicas' | 'sendAcknowledged' | 'probe'
>
