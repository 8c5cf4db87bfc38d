import type { CommandConnection } from '../redis/command-connection'
import type { Answered } from '../redis/fast-path/raw-command'
import type { BrokenConnection } from '../redis/fencing/fence-states'
import type { ReplicaAckConnection, ReplicaAckReply } from '../redis/replica-ack/connection'
import type { Script } from './script'

/** A script with its arguments. */
export interface SentScript {
  readonly script: Script
  readonly keys: readonly string[]
  readonly args: readonly (string | number)[]
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

export class RedisScriptTransport implements ScriptTransport {
  constructor(
    private readonly connection: CommandConnection,
    private readonly acknowledged: ReplicaAckConnection | undefined,
  ) {}

  get lastBroken(): BrokenConnection {
    return this.connection.broken.last
  }

  serverOf(key: string): string {
    return this.connection.serverOf(key)
  }

  get state() {
    return this.connection.state
  }

  get refusal(): Error | undefined {
    return this.connection.refusal
  }

  send(
    { script, keys, args }: SentScript,
    bySource: boolean,
    answered: Answered,
    failed: (error: unknown) => void,
  ): void {
    if (bySource) this.connection.send('eval', script.source, keys, args, answered, failed)
    else this.connection.send('evalsha', script.sha, keys, args, answered, failed)
  }

  mayHaveReplicas(key: string): boolean {
    return this.acknowledged?.mayHaveReplicas(key) ?? false
  }

  async sendAcknowledged(call: SentScript, bySource: boolean): Promise<ReplicaAckReply> {
    if (!this.acknowledged) {
      const value = await new Promise((resolve, reject) => this.send(call, bySource, resolve, reject))
      return { value, acknowledged: true }
    }
    const { script, keys, args } = call
    const how = bySource ? ['eval', script.source] : ['evalsha', script.sha]
    return await this.acknowledged.send(keys[0]!, [...how, keys.length, ...keys, ...args])
  }

  probe(): void {
    this.connection.probe()
    this.acknowledged?.probe()
  }
}
