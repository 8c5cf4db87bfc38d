export type ServerMode = 'server' | 'sentinel'

/** One started server process, wherever it runs. */
export interface ServerProcess {
  running(): Promise<boolean>
  signal(signal: NodeJS.Signals): Promise<void>
  /** The last lines it wrote. */
  log(): Promise<string>
}

/**
 * Where the servers of one topology run: this machine, or one container for all of them. Either way they
 * reach each other and we reach them at 127.0.0.1 and the same ports, so the addresses a sentinel or a
 * cluster node hands out are right for both.
 */
export interface Machine {
  readonly host: string
  /** Gives the server of this port a fresh directory that holds nothing but its configuration. */
  prepare(port: number, config: readonly string[]): Promise<void>
  /** Starts the server of a prepared port in its directory. */
  start(port: number, mode: ServerMode): Promise<ServerProcess>
  /** Ends every server it runs and removes all they left. */
  close(): Promise<void>
}
