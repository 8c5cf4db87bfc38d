import type { ClusterNode, ClusterOptions, RedisOptions } from 'ioredis'

/**
 * A client of ioredis (Redis, Cluster) or of node-redis (client, cluster, sentinel), of any version. It is
 * recognised by its members, so that the types of two versions need not agree.
 */
export interface RedisInstance {
  /** A method of both libraries. It is never called: the instance stays yours. */
  sendCommand(...args: never[]): unknown
}

/**
 * Options for `tls.connect`, or a function that returns them, which may be async. It is asked at each
 * connection.
 */
export type TlsSource =
  | RedisOptions['tls']
  | (() => NonNullable<RedisOptions['tls']> | Promise<NonNullable<RedisOptions['tls']>>)

/** The options of ioredis 5 and 6, whose types differ in what the client does not read. */
export type RedisServerOptions = Omit<RedisOptions, 'Connector' | 'tls' | 'sentinelTLS'> & {
  /**
   * TLS to the Redis servers. A function is for certificates that change, such as those of cert-manager, or a
   * new authority. If it throws, or has no answer within the connect timeout, the client asks again after a
   * second.
   */
  tls?: TlsSource
  /** TLS to the sentinels; the same. */
  sentinelTLS?: TlsSource
  /** A class that opens the sockets. */
  Connector?: unknown
}

/** The options of a cluster of ioredis 5 and 6. */
export type RedisClusterOptions = Omit<ClusterOptions, 'redisOptions'> & {
  /** The options of each connection. */
  redisOptions?: Omit<RedisServerOptions, 'port' | 'host' | 'path' | 'sentinels'> | undefined
}

/**
 * Marks a server inside the process. A registered symbol, because the process may have several copies of the
 * package.
 */
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
  | RedisServerOptions
  | (Omit<RedisServerOptions, 'host' | 'path' | 'sentinels'> & {
      /** The address; the options beside it are what it does not say, such as `tls`. */
      url: string | URL
    })
  | {
      /** Some nodes of the cluster. They tell the client about the others. */
      nodes: (ClusterNode | URL)[]
      /** The cluster options of ioredis. */
      options?: RedisClusterOptions | undefined
    }
  | RedisInstance
  | InProcessServer
