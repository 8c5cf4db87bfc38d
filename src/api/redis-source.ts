import type { ClusterNode, ClusterOptions, RedisOptions } from 'ioredis'

/**
 * An ioredis Redis or Cluster of any version. The client recognises it by its members, so that the types of two versions
 * need not agree.
 */
export interface RedisInstance {
  /** ioredis's status: `ready`, `connecting` and so on. */
  readonly status: string
  /** The options of its constructor. */
  readonly options: object
  /** A method of ioredis. The client never calls it: the instance stays yours. */
  disconnect(): void
  /** A method of ioredis. The client never calls it. */
  duplicate(...args: never[]): unknown
}

/** Marks a server inside the process. A registered symbol, because the process may have several copies of the package. */
export const IN_PROCESS_SERVER: unique symbol = Symbol.for('rlock.in-process-server')

/** A server inside the process: what `inMemoryRedis()` of `@rlock/testing` returns. */
export interface InProcessServer {
  /** The server itself, for clients only. */
  readonly [IN_PROCESS_SERVER]: object
}

/** The `redis` option of `Redisson.create`. */
export type RedisSource =
  | string
  | URL
  | RedisOptions
  | {
      /** Some nodes of the cluster. They tell the client about the others. */
      nodes: (ClusterNode | URL)[]
      /** The cluster options of ioredis. */
      options?: ClusterOptions | undefined
    }
  | RedisInstance
  | InProcessServer
