import { ContainerMachine } from './container-machine'
import { findLauncher } from './find-server'
import { onFreePorts } from './free-ports'
import { LocalMachine } from './local-machine'

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

/** Opens a machine with free ports and builds on it; when that fails, nothing stays behind. */
export async function onMachine<T>(
  portCount: number,
  build: (machine: Machine, ports: number[]) => Promise<T>,
): Promise<T> {
  const launcher = await findLauncher()
  return onFreePorts(portCount, async (ports) => {
    const machine: Machine =
      launcher.kind === 'binary'
        ? new LocalMachine(launcher.path)
        : await ContainerMachine.open(launcher.image, ports)
    try {
      return await build(machine, ports)
    } catch (failure) {
      await machine.close()
      throw failure
    }
  })
}
