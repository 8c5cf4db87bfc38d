import type { RedisOptions } from 'ioredis'
import { isPlainObject } from './option-checks'
import { parseRedisUrl } from './redis-url'

/** Options of node-redis, of any of its kinds of clients. */
type Options = Record<string, unknown>

/** Recognises clients of node-redis 5 and 6. */
export function isNodeRedis(source: object): boolean {
  return '_self' in source && 'sendCommand' in source
}

/**
 * The `redis` option that stands for a client of node-redis, and the function for its credentials, if it has
 * one. The options that the client was made with are private. `duplicate` passes them to the constructor of
 * the object on which it is called.
 */
export function readNodeRedis(client: object): { redis: Options; credentials?: () => Promise<unknown> } {
  const { duplicate, _self } = client as { duplicate?: () => object; _self?: object }
  class Collected {
    constructor(readonly options: Options) {}
  }
  let options: unknown
  try {
    const collector = Object.assign(new Collected({}), { _self })
    options = (duplicate?.call(collector) as Collected | undefined)?.options
  } catch {
    // Another version, which reads more of the client.
  }
  if (!isPlainObject(options))
    throw new TypeError(
      'redis is a client of node-redis that does not show its options, as those of createSentinel() of ' +
        'version 5 and of createClientPool(): give the address, such as { redis: { sentinels, name, ' +
        'password } }',
    )
  const { defaults, rootNodes, sentinelRootNodes, nodeClientOptions, nodeAddressMap: natMap } = options
  if (Array.isArray(rootNodes)) {
    const shared = (defaults ?? {}) as Options
    const nodes = rootNodes.map((node: Options) =>
      serverOf({ ...shared, ...node, socket: { ...(shared.socket ?? {}), ...(node.socket ?? {}) } }),
    )
    return { redis: { nodes, options: { natMap, redisOptions: serverOf(shared) } }, ...credentialsOf(shared) }
  }
  if (Array.isArray(sentinelRootNodes)) {
    const servers = (nodeClientOptions ?? {}) as Options
    const { username, password, tls } = serverOf((options.sentinelClientOptions ?? {}) as Options)
    const login = { sentinelUsername: username, sentinelPassword: password, sentinelTLS: tls }
    const redis = { ...serverOf(servers), ...login, natMap, name: options.name, sentinels: sentinelRootNodes }
    return { redis, ...credentialsOf(servers) }
  }
  return { redis: { ...serverOf(options) }, ...credentialsOf(options) }
}

function serverOf({ url, socket, username, password, database, name, keyPrefix }: Options): RedisOptions {
  const { host, port, path, family, connectTimeout, tls, reconnectStrategy, socketTimeout, ...tlsOptions } =
    (socket ?? {}) as Options
  // A client has read its URL into `socket`; a root node of a cluster has not.
  const written = typeof url === 'string' && !host && !path ? parseRedisUrl(url, 'redis') : {}
  const login = { username, password, tls: tls || written.tls ? tlsOptions : undefined }
  const rest = { host, port, path, family, connectTimeout, db: database, connectionName: name, keyPrefix }
  return { ...rest, ...login, ...written, ...(login.tls && { tls: login.tls }) } as RedisOptions
}

/** What the client uses instead of a fixed password, if it has no such password. */
function credentialsOf({ password, credentialsProvider }: Options): { credentials?: () => Promise<unknown> } {
  if (password !== undefined || !credentialsProvider) return {}
  const provider = credentialsProvider as Provider
  if (provider.credentials) return { credentials: () => provider.credentials!() }
  const ask = async () => {
    const [current, subscription] = await provider.subscribe!({ onNext() {}, onError() {} })
    subscription.dispose()
    return current
  }
  return { credentials: ask }
}

/** Of both kinds: one that is asked, and one that tells of each change. */
interface Provider {
  credentials?(): Promise<unknown>
  subscribe?(listener: object): Promise<[current: unknown, subscription: { dispose(): void }]>
}
