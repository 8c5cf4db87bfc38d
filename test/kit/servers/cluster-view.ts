import type { Address } from './address'
import { withClient } from './with-client'

/** A cluster node as another one sees it: one line of CLUSTER NODES. */
export interface ClusterMember extends Address {
  readonly id: string
  /** Of a replica, the id of its primary. */
  readonly primaryId: string | undefined
  readonly connected: boolean
  /** First and last slot of each range it serves. */
  readonly slots: readonly (readonly [from: number, to: number])[]
}

export function membersKnownTo(node: Address): Promise<ClusterMember[]> {
  return withClient(node, async (client) => {
    const text = (await client.call('CLUSTER', 'NODES')) as string
    return text.trim().split('\n').map(parseMember)
  })
}

export function clusterInfo(node: Address): Promise<Map<string, string>> {
  return withClient(node, async (client) => {
    const text = (await client.call('CLUSTER', 'INFO')) as string
    return new Map(
      text
        .trim()
        .split('\r\n')
        .map((line) => line.split(':') as [string, string]),
    )
  })
}

export const myId = (node: Address): Promise<string> =>
  withClient(node, async (client) => (await client.call('CLUSTER', 'MYID')) as string)

// <id> <host>:<port>@<bus port> <flags> <primary id or -> <ping> <pong> <epoch> <link> <slots>...
function parseMember(line: string): ClusterMember {
  const [id, address, flags, primaryId, , , , link, ...slots] = line.split(' ')
  const [, host, port] = /^(.*):(\d+)@/.exec(address!) ?? []
  return {
    id: id!,
    host: host!,
    port: Number(port),
    primaryId: primaryId === '-' ? undefined : primaryId!,
    connected: link === 'connected' && !/handshake|noaddr|fail/.test(flags!),
    // [slot->-id] and [slot-<-id] tell of a migration under way, not of ownership.
    slots: slots.filter((range) => !range.startsWith('[')).map(parseRange),
  }
}

function parseRange(range: string): [number, number] {
  const [from, to] = range.split('-')
  return [Number(from), Number(to ?? from)]
}
