import { readFileSync } from 'node:fs'
import { fromRedissonConfig } from '@rlock/redisson-config'
import type { RedissonOptions } from 'rlock'
import { parseRedisUrl } from 'rlock/internal'
import { UsageError } from './exit'
import { safe } from './terminal'

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
  const all = urls.flatMap((each) => each.split(',')).map(withScheme)
  const login = { ...credentials(given, env), ...tls(given) }
  if (given.cluster && given.sentinel) throw new UsageError('--cluster and --sentinel exclude each other')
  if (given.cluster) return { redis: { nodes: all, options: { redisOptions: login } } }
  if (given.sentinel !== undefined)
    return { redis: { sentinels: all.map(sentinel), name: given.sentinel, ...login } }
  if (all.length > 1) throw new UsageError('several addresses need --cluster or --sentinel NAME')
  return { redis: { ...parsed(all[0]!), ...login } as RedissonOptions['redis'] }
}

function configured(file: string, given: ConnectionValues, env: Env): RedissonOptions {
  if (given.redis || given.sentinel || given.cluster)
    throw new UsageError('--config excludes --redis, --sentinel and --cluster')
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    throw new UsageError(`--config cannot be read: ${(error as { code?: string }).code}`)
  }
  try {
    const { options, notCarriedOver } = fromRedissonConfig(text, { env })
    for (const { name, why, matters } of notCarriedOver)
      if (matters) process.stderr.write(`rlock: --config: ${safe(name)} is not used: ${why}\n`)
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

const withScheme = (text: string) => (/^\/|:\/\//.test(text) ? text : `redis://${text}`)

/** The options of one address. No message contains a credential. */
function parsed(text: string) {
  try {
    return parseRedisUrl(text, '--redis')
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

function sentinel(text: string) {
  const { host = '127.0.0.1', port = 26_379 } = parsed(text)
  return { host, port }
}
