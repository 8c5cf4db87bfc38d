import { createRequire } from 'node:module'
import type * as Ioredis from 'ioredis'
import type { Address } from '../worker/protocol'

/** The very ioredis that rlock runs on, whichever the peers have. */
const { Redis, Cluster } = createRequire(require.resolve('rlock'))('ioredis') as typeof Ioredis

export function connect(at: Address): Ioredis.Redis | Ioredis.Cluster {
  return 'redis' in at ? new Redis(at.redis) : new Cluster([...at.cluster])
}

/** Loads a script wherever it may be called, and answers what it is called by. */
export async function loadScript(client: Ioredis.Redis | Ioredis.Cluster, source: string): Promise<string> {
  if (!client.isCluster) return (await client.script('LOAD', source)) as string
  await client.ping()
  const hashes = await Promise.all(
    (client as Ioredis.Cluster).nodes('master').map((node) => node.script('LOAD', source)),
  )
  return hashes[0] as string
}
