import type { Machine } from './machine'
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

export async function startStandalone(options: StandaloneOptions = {}): Promise<Standalone> {
  const [server] = await startStandalones(options)
  return server!
}

/** Servers that reach each other, in a container too: for a replica and its primary. To stop one ends them all. */
export function startStandalones(...options: StandaloneOptions[]): Promise<Standalone[]> {
  return onMachine(options.length, async (machine, ports) => {
    const nodes = await Promise.all(options.map((each, at) => startOn(machine, ports[at]!, each)))
    return nodes.map((node) => Object.assign(node, { stop: () => machine.close() }))
  })
}

function startOn(machine: Machine, port: number, options: StandaloneOptions): Promise<RedisNode> {
  const { requirepass, appendonly = false, config = [] } = options
  return startNode(machine, port, {
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
}
