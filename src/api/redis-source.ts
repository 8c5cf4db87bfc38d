import type { ClusterNode, ClusterOptions, RedisOptions } from 'ioredis'

/**
 * An ioredis Redis or Cluster of any version: recognised by what it can do, so that types of versions need not agree.
 */
export interface RedisInstance {
  /** ioredis's: `ready`, `connecting` and so on. */
  readonly status: string
  /** What it was made with. */
  readonly options: object
  /** ioredis's. Never called from here: the instance stays yours. */
  disconnect(): void
  /** ioredis's. Never called from here. */
  duplicate(...args: never[]): unknown
}

/** By this a client knows a server inside its process. Registered, because there may be several copies of the package. */
export const IN_PROCESS_SERVER: unique symbol = Symbol.for('rlock.in-process-server')

/** A server inside the process: what `inMemoryRedis()` of `rlock/testing` returns. */
export interface InProcessServer {
  /** The server itself; of use to clients only. */
  readonly [IN_PROCESS_SERVER]: object
}

/** What `Redisson.create({ redis })` takes. */
export type RedisSource =
  | string
  | URL
  | RedisOptions
  | {
      /** Nodes of a cluster to begin with; the others are found by asking them. */
      nodes: (ClusterNode | URL)[]
      /** ioredis's options of a cluster. */
      options?: ClusterOptions | undefined
    }
  | RedisInstance
  | InProcessServer
