import { onMachine } from './on-machine'
import { type RedisNode, startNode } from './redis-node'

export interface StandaloneOptions {
  readonly requirepass?: string
  /** Every write reaches the disk before its answer, so restart() brings the data back. */
  readonly appendonly?: boolean
  /** Further lines of the configuration file, e.g. `user alice on >secret ~* &* +@all`. */
  readonly config?: readonly string[]
}

export interface Standalone extends RedisNode {
  /** Ends the server and removes its data. */
  stop(): Promise<void>
}

export function startStandalone(options: StandaloneOptions = {}): Promise<Standalone> {
  const { requirepass, appendonly = false, config = [] } = options
  return onMachine(1, async (machine, [port]) => {
    const node = await startNode(machine, port!, {
      password: requirepass,
      config: [
        'save ""',
        `appendonly ${appendonly ? 'yes' : 'no'}`,
        // Our own promise above; the default would lose up to a second.
        'appendfsync always',
        ...(requirepass ? [`requirepass ${JSON.stringify(requirepass)}`] : []),
        ...config,
      ],
    })
    return Object.assign(node, { stop: () => machine.close() })
  })
}
