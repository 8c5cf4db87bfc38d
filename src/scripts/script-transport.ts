import type { CommandConnection } from '../connection/command-connection'
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
  /** Finds connections that went silent and cuts them. */
  probe(): void
}

export class RedisScriptTransport implements ScriptTransport {
  constructor(private readonly connection: CommandConnection) {}

  get breaks(): number {
    return this.connection.breaks
  }

  get state() {
    return this.connection.state
  }

  send(script: Script, bySource: boolean, keys: readonly string[], args: readonly (string | number)[]) {
    const { redis } = this.connection
    return bySource
      ? redis.eval(script.source, keys.length, ...keys, ...args)
      : redis.evalsha(script.sha, keys.length, ...keys, ...args)
  }

  probe(): void {
    this.connection.probe()
  }
}
