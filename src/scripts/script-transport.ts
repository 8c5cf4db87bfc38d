import type { AcknowledgedAnswer, AcknowledgedConnection } from '../connection/acknowledged-connection'
import type { CommandConnection } from '../connection/command-connection'
import type { KeyTracking } from '../connection/key-tracking'
import type { Script } from './script'

/** Carries a script to the server and its answer back. A parameter of the internal client. */
export interface ScriptTransport {
  /** How many times a connection broke so far. */
  readonly breaks: number
  /** Whether a script can be handed over now: `loading` is a server that is there but not ready yet. */
  readonly state: 'ready' | 'loading' | 'away'
  /** Sends by hash, or with the source where the server does not know it. */
  send(
    script: Script,
    bySource: boolean,
    keys: readonly string[],
    args: readonly (string | number)[],
  ): Promise<unknown>
  /** The same without a promise: calls back, perhaps in the turn in which the answer comes. Need not be there. */
  post?(
    script: Script,
    bySource: boolean,
    keys: readonly string[],
    args: readonly (string | number)[],
    answered: (value: unknown) => void,
    failed: (error: unknown) => void,
  ): void
  /** The same, and waits until a replica has it where there are replicas. */
  sendAcknowledged(
    script: Script,
    bySource: boolean,
    keys: readonly string[],
    args: readonly (string | number)[],
  ): Promise<AcknowledgedAnswer>
  /** Finds connections that went silent and cuts them. */
  probe(): void
}

const needNotBeAcknowledged = (value: unknown): AcknowledgedAnswer => ({ value, acknowledged: true })

export class RedisScriptTransport implements ScriptTransport {
  constructor(
    private readonly connection: CommandConnection,
    private readonly acknowledged: AcknowledgedConnection | undefined,
    private readonly tracking: KeyTracking | undefined,
  ) {}

  get breaks(): number {
    return this.connection.breaks
  }

  get state() {
    return this.connection.state
  }

  send(
    script: Script,
    bySource: boolean,
    keys: readonly string[],
    args: readonly (string | number)[],
  ): Promise<unknown> {
    return new Promise((resolve, reject) => this.post(script, bySource, keys, args, resolve, reject))
  }

  post(
    script: Script,
    bySource: boolean,
    keys: readonly string[],
    args: readonly (string | number)[],
    answered: (value: unknown) => void,
    failed: (error: unknown) => void,
  ): void {
    if (bySource) this.connection.send('eval', script.source, keys, args, answered, failed)
    else this.connection.send('evalsha', script.sha, keys, args, answered, failed)
    // In the same write, so that little can happen in between.
    if (script.watchesKeys) this.tracking?.watch(keys)
  }

  sendAcknowledged(
    script: Script,
    bySource: boolean,
    keys: readonly string[],
    args: readonly (string | number)[],
  ): Promise<AcknowledgedAnswer> {
    if (!this.acknowledged) return this.send(script, bySource, keys, args).then(needNotBeAcknowledged)
    const how = bySource ? ['eval', script.source] : ['evalsha', script.sha]
    return this.acknowledged.send(keys[0]!, [...how, keys.length, ...keys, ...args])
  }

  probe(): void {
    this.connection.probe()
    this.acknowledged?.probe()
  }
}
