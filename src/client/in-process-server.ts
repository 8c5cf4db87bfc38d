import { IN_PROCESS_SERVER, type RedisSource } from '../api/redis-source'
import type { Server } from './connections'

/** The server inside the process, if the `redis` option is one. */
export function inProcessServer(source: RedisSource): Server | undefined {
  return (source as { [IN_PROCESS_SERVER]?: Server } | undefined)?.[IN_PROCESS_SERVER]
}
