import { ContainerMachine } from './container-machine'
import { findLauncher } from './find-server'
import { onFreePorts } from './free-ports'
import { LocalMachine } from './local-machine'
import type { Machine } from './machine'

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
