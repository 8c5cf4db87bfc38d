import { setTimeout as sleep } from 'node:timers/promises'
import { type RedisNode, waitUntil, withClient } from '../../../kit/servers/index'
import { info } from '../../../kit/servers/with-client'
import { onEvery } from './topology'

export interface Resync {
  readonly primary: RedisNode
  readonly replicas: readonly RedisNode[]
  /** The replica comes back without data and follows the same primary. */
  restart(replica: RedisNode): Promise<void>
}

const NEVER_SOON = 3_600

/**
 * The replicas ask for the first copy of the data, and the primary does not begin with it for a while: they are
 * connected meanwhile (`wait_bgsave`), but have nothing and acknowledge nothing.
 */
export async function resyncReplicas(
  { primary, replicas, restart }: Resync,
  lastsMs: number,
  waiting: () => void,
): Promise<void> {
  await delayCopies(primary, NEVER_SOON)
  try {
    await Promise.all(replicas.map(restart))
    await waitUntil('the replicas wait for their copy', () =>
      withClient(primary, async (client) => {
        const lines = [...(await info(client, 'replication')).values()]
        return lines.filter((line) => line.includes('state=wait_bgsave')).length === replicas.length
      }),
    )
    waiting()
    await sleep(lastsMs)
  } finally {
    await delayCopies(primary, 0)
  }
}

const delayCopies = (primary: RedisNode, seconds: number): Promise<void> =>
  onEvery([primary], 'CONFIG', 'SET', 'repl-diskless-sync-delay', String(seconds))
