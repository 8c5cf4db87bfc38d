import { IN_PROCESS_SERVER, type RedisSource } from '../api/redis-source'
import type { Server } from './connections'

/** The server inside the process, if the `redis` option is one. */
export function inProcessServer(source: RedisSource): Server | undefined {
  if (typeof source !== 'object' || source === null) return undefined
  return (source as { [IN_PROCESS_SERVER]?: Server })[IN_PROCESS_SERVER]
}
