/** What a server says of itself in INFO. Undefined: it does not say so, or the user may not ask. */
export interface ServerInfo {
  /** A server that restarted has another one. */
  readonly runId: string | undefined
  readonly mode: string | undefined
  readonly isReplica: boolean
}

export function readServerInfo(info: string): ServerInfo {
  return {
    runId: /^run_id:(\w+)/m.exec(info)?.[1],
    mode: /^(?:redis|server)_mode:(\w+)/m.exec(info)?.[1],
    isReplica: /^role:(slave|replica)\b/m.test(info),
  }
}

/** A replica whose state is "online" at the primary. */
export interface OnlineReplica {
  /** Seconds since the primary last heard from it. */
  readonly lag: number
  /** It has acknowledged something on this connection. */
  readonly hasAcknowledged: boolean
  /** How far it had read, as it last told. NaN if the primary does not say so. */
  readonly offset: number
}

/**
 * The online replicas by INFO replication.
 *
 * While the primary prepares or sends the first copy of the data, the state of a replica is not "online".
 * While the replica loads that copy, its state is "online" already. Only its offset shows this: it is 0,
 * because it has acknowledged nothing.
 */
export function onlineReplicas(info: string): OnlineReplica[] {
  const lines = [...info.matchAll(/^(?:slave|replica)\d+:(.*)/gm)].map(([line]) => line)
  // Some servers tell only the number of replicas.
  if (lines.length === 0) {
    const count = /^connected_(?:slaves|replicas):(\d+)/m.exec(info)?.[1] ?? 0
    return Array(Number(count)).fill({
      lag: Number.POSITIVE_INFINITY,
      hasAcknowledged: true,
      offset: Number.NaN,
    })
  }
  return lines
    .filter((line) => /[:,]state=online\b/.test(line))
    .map((line) => ({
      lag: Number(/,lag=(\d+)/.exec(line)?.[1] ?? 0),
      hasAcknowledged: !/,offset=0\b/.test(line),
      offset: Number(/,offset=(\d+)/.exec(line)?.[1]),
    }))
}
