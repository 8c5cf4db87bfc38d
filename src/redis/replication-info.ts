/** A replica that the primary calls online. */
export interface OnlineReplica {
  /** Seconds since the primary last heard from it. */
  readonly lag: number
  /** It has acknowledged something on this connection. */
  readonly hasAcknowledged: boolean
}

/**
 * The replicas that have their first copy of the data, as INFO replication tells them.
 *
 * While the primary prepares or sends that copy the state says so. While the replica loads the copy its state is
 * "online" already, and nothing but its offset tells: 0, for it has not acknowledged anything.
 */
export function onlineReplicas(info: string): OnlineReplica[] {
  const lines = [...info.matchAll(/^(?:slave|replica)\d+:(.*)/gm)]
  // A server that tells no more than how many there are.
  if (lines.length === 0)
    return Array(connectedReplicas(info)).fill({ lag: Number.POSITIVE_INFINITY, hasAcknowledged: true })
  const replicas: OnlineReplica[] = []
  for (const [, text = ''] of lines) {
    const fields = new Map(text.trim().split(',').map(fieldAndValue))
    if (fields.get('state') !== 'online') continue
    replicas.push({ lag: Number(fields.get('lag') ?? 0), hasAcknowledged: fields.get('offset') !== '0' })
  }
  return replicas
}

function connectedReplicas(info: string): number {
  return Number(/^connected_(?:slaves|replicas):(\d+)/m.exec(info)?.[1] ?? 0)
}

function fieldAndValue(text: string): [string, string] {
  const at = text.indexOf('=')
  return [text.slice(0, at), text.slice(at + 1)]
}
