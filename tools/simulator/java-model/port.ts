export interface Timer {
  cancel(): void
}

/**
 * All that the model of a Java client needs of the outside: a server, channels, a clock and random ids. So the model runs in
 * the virtual time of the simulator and against a real server.
 */
export interface JavaPort {
  /** Runs a script. Rejects with the server's error, or when the connection breaks: nothing is sent again. */
  run(script: string, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown>
  /** Resolves when the subscription is confirmed. It is restored by the port when its connection breaks. */
  subscribe(channel: string, listener: (message: string) => void): Promise<void>
  unsubscribe(channel: string): Promise<void>
  /** The wall clock of the process, in ms. */
  now(): number
  after(ms: number, callback: () => void): Timer
  /** A number from 0 to 1. */
  random(): number
}
