import type { ClientLinks } from './connections'
import type { SimulatedProcess } from './process'
import type { SimulatedServer } from './server'
import type { Break } from './socket'
import type { World } from './world'

/** A client of a simulation: what `client()` resolved with. */
export interface Target {
  readonly process: SimulatedProcess
  readonly links: ClientLinks
}

/** What may go wrong. Each method acts at once; times are virtual ms. A client is what `client()` resolved with. */
export interface SimulationFaults<Client> {
  /**
   * Breaks the connections of a client. `before`: what it has sent is not executed. `after`: it is, and the answers are lost.
   * `late`: it may be executed seconds later. `silent`: neither end notices, and nothing arrives any more. Default `after`.
   */
  cut(client: Client, how?: Break): void
  /** Delays each message between a client and the server by so many ms, for a while. */
  slow(client: Client, delay: number, duration: number): void
  /** Stops the process of a client, and its callers, as SIGSTOP or a long garbage collection does. */
  suspend(client: Client, duration: number): void
  /** Ends the process of a client: nothing of it runs again, and its locks stay until their leases end. */
  kill(client: Client): void
  /** The server answers nothing for a while. */
  pause(duration: number): void
  /** The server is away for a while. `lost`: it comes back without its keys. */
  restart(duration: number, keys?: 'kept' | 'lost'): void
  /** The server refuses for a while: `refuse('OOM command not allowed', 1_000)`; with a command, that one only. */
  refuse(error: string, duration: number, command?: string): void
  /** Deletes all keys. */
  flush(): void
  /** Sets the clock of the server forward, or back. */
  stepClock(ms: number): void
}

export function faultsOf<Client>(
  world: World,
  server: SimulatedServer,
  find: (client: Client) => Target,
): SimulationFaults<Client> {
  const later = (ms: number, run: () => void) => void world.in(ms, undefined, run)
  const linksOf = ({ links }: Target) => [links.commands, links.messages]
  return {
    cut(client, how = 'after') {
      for (const link of linksOf(find(client))) link.break(how)
    },
    slow(client, delay, duration) {
      const links = linksOf(find(client))
      for (const link of links) link.slowDown(delay)
      later(duration, () => {
        for (const link of links) link.slowDown(0)
      })
    },
    suspend: (client, duration) => find(client).process.suspend(duration),
    kill: (client) => find(client).process.kill(),
    pause(duration) {
      server.pause()
      later(duration, () => server.resume())
    },
    restart(duration, keys = 'kept') {
      server.stop()
      later(duration, () => server.start(keys))
    },
    refuse(error, duration, command) {
      later(duration, server.refuse({ error, command: command?.toLowerCase() }))
    },
    flush: () => void server.call('FLUSHALL'),
    stepClock: (ms) => server.stepClock(ms),
  }
}
