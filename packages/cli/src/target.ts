import { readFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { fromRedissonConfig } from '@rlock/redisson-config'
import type { RedissonOptions } from 'rlock'
import { parseRedisUrl } from 'rlock/internal'
import { UsageError } from './exit'
import { complain } from './terminal'

/** The options of parseArgs that every command takes. */
export const CONNECTION_OPTIONS = {
  redis: { type: 'string', multiple: true },
  sentinel: { type: 'string' },
  cluster: { type: 'boolean' },
  config: { type: 'string' },
  user: { type: 'string' },
  cacert: { type: 'string' },
  cert: { type: 'string' },
  key: { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const

export interface ConnectionValues {
  readonly redis?: string[] | undefined
  readonly sentinel?: string | undefined
  readonly cluster?: boolean | undefined
  readonly config?: string | undefined
  readonly user?: string | undefined
  readonly cacert?: string | undefined
  readonly cert?: string | undefined
  readonly key?: string | undefined
}

type Env = Readonly<Record<string, string | undefined>>

/** Options of rlock for the server that the arguments name, else REDIS_URL, else localhost. */
export function redissonOptions(given: ConnectionValues, env: Env = process.env): RedissonOptions {
  if (given.config !== undefined) return configured(given.config, given, env)
  const urls = given.redis ?? (env.REDIS_URL ? [env.REDIS_URL] : ['redis://127.0.0.1:6379'])
  const all = urls.flatMap((each) => each.split(BETWEEN_ADDRESSES)).map(withScheme)
  const login = { ...credentials(given, env), ...tls(given) }
  if (given.cluster && given.sentinel) throw new UsageError('--cluster and --sentinel exclude each other')
  if (given.cluster) {
    // What a node says of itself goes before the options of all nodes.
    const nodes = all.map((each) => ({ ...parsed(each), ...login }))
    return { redis: { nodes, options: { redisOptions: login } } as RedissonOptions['redis'] }
  }
  if (given.sentinel !== undefined) return bySentinel(all, given.sentinel, login)
  if (all.length > 1) throw new UsageError('several addresses need --cluster or --sentinel NAME')
  return { redis: { ...parsed(all[0]!), ...login } as RedissonOptions['redis'] }
}

function configured(file: string, given: ConnectionValues, env: Env): RedissonOptions {
  if (given.redis || given.sentinel || given.cluster)
    throw new UsageError('--config excludes --redis, --sentinel and --cluster')
  if (given.user !== undefined || given.cacert || given.cert || given.key)
    throw new UsageError('--config has the user and TLS: it excludes --user, --cacert, --cert and --key')
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    throw new UsageError(`--config cannot be read: ${(error as { code?: string }).code}`)
  }
  try {
    const { options, notCarriedOver } = fromRedissonConfig(text, { env })
    for (const { name, why, matters } of notCarriedOver)
      if (matters) complain(`--config: ${name} is not used: ${why}`)
    return options
  } catch (error) {
    throw new UsageError(`--config: ${(error as Error).message}`)
  }
}

/** A password comes by a variable or within a URL: as an argument of its own every user of the machine could read it. */
function credentials({ user }: ConnectionValues, env: Env) {
  const password = env.REDISCLI_AUTH
  return { ...(user !== undefined && { username: user }), ...(password && { password }) }
}

function tls({ cacert, cert, key }: ConnectionValues) {
  if (!cacert && !cert && !key) return {}
  const read = (option: string, file: string | undefined) => {
    try {
      return file === undefined ? undefined : readFileSync(file)
    } catch (error) {
      throw new UsageError(`--${option} cannot be read: ${(error as { code?: string }).code}`)
    }
  }
  const files = { ca: read('cacert', cacert), cert: read('cert', cert), key: read('key', key) }
  return { tls: Object.fromEntries(Object.entries(files).filter(([, content]) => content !== undefined)) }
}

/** A comma within a password is no end of an address. */
const BETWEEN_ADDRESSES = /,(?=\w[\w+.-]*:\/\/)|,(?=[^@]*$)/

const withScheme = (text: string) => (/^\/|:\/\//.test(text) ? text : `redis://${text}`)

/** The options of one address. No message contains a credential. */
function parsed(text: string) {
  try {
    return parseRedisUrl(text, '--redis')
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

/**
 * The URLs are those of the sentinels. Their database is that of the primary, and what they say of TLS and of the login holds for
 * both, unless --user and REDISCLI_AUTH say otherwise for the primary: nothing that was asked for is dropped.
 */
function bySentinel(urls: readonly string[], name: string, login: object): RedissonOptions {
  refuseUrl('the name of the primary', name)
  const all = urls.map(parsed)
  if (all.some(({ path }) => path !== undefined))
    throw new UsageError('--sentinel takes no unix socket: its connections go to other servers')
  const [first, ...others] = all.map(({ host, port, ...rest }) => rest)
  if (others.some((each) => !isDeepStrictEqual(each, first)))
    throw new UsageError('--sentinel takes addresses that differ in host and port only')
  const { username, password, ...shared } = first!
  const ofSentinels = {
    ...(username && { sentinelUsername: username }),
    ...(password && { sentinelPassword: password }),
  }
  const redis = { ...first, ...login } as { tls?: object }
  const sentinels = all.map(({ host = '127.0.0.1', port = 26_379 }) => ({
    ...{ host, port, ...(shared.family !== undefined && { family: shared.family }) },
  }))
  const secure = redis.tls && { sentinelTLS: redis.tls }
  return { redis: { ...redis, ...ofSentinels, ...secure, sentinels, name } as RedissonOptions['redis'] }
}

/** A URL in the place of a name: it may have a password, and what it names is no lock. */
export function refuseUrl(place: string, given: string | undefined): void {
  if (/^(redis|rediss|valkey|valkeys)(\+\w+)?:\/\//i.test(given ?? ''))
    throw new UsageError(`${place} is a URL: give the server with --redis URL or REDIS_URL`)
}
