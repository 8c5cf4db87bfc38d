import type { ClusterNode, ClusterOptions, RedisOptions } from 'ioredis'

/**
 * An ioredis Redis or Cluster of any version: recognised by what it can do, so that types of versions need not agree.
 */
export interface RedisInstance {
  readonly status: string
  readonly options: object
  disconnect(): void
  duplicate(...args: never[]): unknown
}

/** By this a client knows a server inside its process. Registered, because there may be several copies of the package. */
export const IN_PROCESS_SERVER: unique symbol = Symbol.for('rlock.in-process-server')

/** A server inside the process: what `inMemoryRedis()` of `rlock/testing` returns. */
export interface InProcessServer {
  readonly [IN_PROCESS_SERVER]: object
}

/** What `Redisson.create({ redis })` takes. */
export type RedisSource =
  | string
  | URL
  | RedisOptions
  | { nodes: (ClusterNode | URL)[]; options?: ClusterOptions | undefined }
  | RedisInstance
  | InProcessServer
