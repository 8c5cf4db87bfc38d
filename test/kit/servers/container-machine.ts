import { networkInterfaces } from 'node:os'
import type { StartedTestContainer } from 'testcontainers'
import { containerIsRemoved, removeContainerWithThisProcess } from './left-behind'
import type { Machine, ServerMode, ServerProcess } from './machine'

const HOME = '/tmp/rlock'

// Process 1 of the container. A shell, not `sleep infinity`, because a shell reaps the servers we kill.
const IDLE = 'echo idle; while :; do sleep 1; done'

/**
 * Runs all servers of one topology inside one container, each port published under its own number. When
 * this process ends without close(), the container is removed all the same, by the reaper of testcontainers where there is one.
 */
export class ContainerMachine implements Machine {
  readonly host = '127.0.0.1'

  private closing: Promise<void> | undefined

  private constructor(private readonly container: StartedTestContainer) {}

  static async open(image: string, ports: readonly number[]): Promise<ContainerMachine> {
    const { GenericContainer, Wait } = await import('testcontainers')
    const container = await new GenericContainer(image)
      .withEntrypoint(['sh', '-c'])
      .withCommand([IDLE])
      .withExposedPorts(...ports.map((port) => ({ container: port, host: port })))
      // The default strategy would wait for servers that we only start later.
      .withWaitStrategy(Wait.forLogMessage('idle'))
      .start()
    const host = container.getHost()
    if (!isThisMachine(host)) {
      await container.stop()
      throw new Error(`The container engine publishes ports on ${host}; the tests need them on this machine`)
    }
    removeContainerWithThisProcess(container.getId())
    return new ContainerMachine(container)
  }

  async prepare(port: number, config: readonly string[]): Promise<void> {
    // Published ports arrive on the container's own interface, so the loopback alone would not do.
    const lines = ['bind 0.0.0.0', 'protected-mode no', ...config]
    await shell(this.container, `rm -rf ${HOME}/${port} && mkdir -p ${HOME}/${port}`)
    await this.container.copyContentToContainer([
      { content: `${lines.join('\n')}\n`, target: `${HOME}/${port}/node.conf` },
    ])
  }

  async start(port: number, mode: ServerMode): Promise<ServerProcess> {
    const flags = mode === 'sentinel' ? '--sentinel' : ''
    const pid = await shell(
      this.container,
      `cd ${HOME}/${port} && server=$(command -v redis-server || command -v valkey-server) && ` +
        `{ nohup "$server" ./node.conf ${flags} >server.log 2>&1 </dev/null & echo $!; }`,
    )
    return new ContainedProcess(this.container, Number(pid), `${HOME}/${port}/server.log`)
  }

  async close(): Promise<void> {
    this.closing ??= this.container.stop().then(() => containerIsRemoved(this.container.getId()))
    await this.closing
  }
}

class ContainedProcess implements ServerProcess {
  constructor(
    private readonly container: StartedTestContainer,
    private readonly pid: number,
    private readonly logFile: string,
  ) {}

  async running(): Promise<boolean> {
    const { exitCode } = await this.container.exec(['sh', '-c', `kill -0 ${this.pid}`])
    return exitCode === 0
  }

  async signal(signal: NodeJS.Signals): Promise<void> {
    // Without the prefix, as the shells of small images want it; a process already gone is no error.
    await this.container.exec(['sh', '-c', `kill -${signal.replace('SIG', '')} ${this.pid}`])
  }

  async log(): Promise<string> {
    return shell(this.container, `tail -n 30 ${this.logFile}`)
  }
}

/**
 * On a machine that began as a container testcontainers names the bridge to its engine. Where the bridge is one of this
 * machine's own interfaces, the engine runs here, and its ports are on the loopback as well.
 */
function isThisMachine(host: string): boolean {
  const own = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? [])
  return host === 'localhost' || own.some(({ address }) => address === host)
}

async function shell(container: StartedTestContainer, script: string): Promise<string> {
  const { exitCode, output, stdout } = await container.exec(['sh', '-c', script])
  if (exitCode !== 0) throw new Error(`In the container, ${script} failed: ${output}`)
  return stdout.trim()
}
