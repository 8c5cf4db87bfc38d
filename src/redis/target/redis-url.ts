import type { RedisOptions } from 'ioredis'
import { SERVER, unknownOption } from './allowed-options'

const EXPECTED = 'expected redis://[user:password@]host:port[/database] or redis+unix:///path/of/the/socket'
const WITH_TLS = /^(rediss|valkeys):/i
/** Up to the path of the socket, with the credentials. Redisson writes redis+uds. */
const SOCKET_URL = /^redis\+(?:unix|uds):\/\/([^/?#]*@)?\//i

/** The options that the query of a URL may have. */
const IN_QUERY = 'db username password family connectTimeout connectionName clientInfoTag keepAlive'.split(
  ' ',
)

/**
 * Reads a URL. Throws TypeError without a credential in it. `where` names the option.
 */
export function parseRedisUrl(given: string, where: string): RedisOptions {
  const isSocket = SOCKET_URL.test(given)
  // The class URL allows no credentials without a host.
  const url = parseUrl(given.replace(SOCKET_URL, 'redis://$1socket/'), where)
  // A password with a plain '/', '?' or '#' ends there, and its rest looks like a part of the address.
  if (`${url.pathname}${url.search}${url.hash}`.includes('@') || url.hash !== '')
    throw new TypeError(`${where} is not a valid URL: percent-encode the special characters of its password`)
  const { username, password } = url
  const hasLogin = username !== '' || password !== ''
  const login = hasLogin && { username: decoded(username, where), password: decoded(password, where) }
  if (isSocket) return withQuery({ path: decoded(url.pathname, where), ...login }, url.searchParams, where)
  const host = url.hostname.replace(/^\[|\]$/g, '')
  if (host === '') throw new TypeError(`${where} is a URL without a host; ${EXPECTED}`)
  if (host === 'undefined' || host === 'null')
    throw new TypeError(`${where} is a URL with the host ${host}: is an environment variable missing?`)
  const options: RedisOptions = { host, ...login }
  if (url.port !== '') options.port = Number(url.port)
  if (WITH_TLS.test(given)) options.tls = {}
  const path = /^\/?(\d*)$/.exec(url.pathname)?.[1]
  if (path === undefined)
    throw new TypeError(`${where} is a URL whose path is not the number of a database; ${EXPECTED}`)
  if (path !== '') options.db = Number(path)
  return withQuery(options, url.searchParams, where)
}

function parseUrl(given: string, where: string): URL {
  if (!URL.canParse(given)) throw new TypeError(`${where} is not a valid URL; ${EXPECTED}`)
  const url = new URL(given)
  if (!/^(redis|valkey)s?:$/.test(url.protocol))
    throw new TypeError(
      `${where} must be a URL that begins with redis://, rediss://, valkey://, valkeys:// or redis+unix:///`,
    )
  return url
}

function decoded(part: string, where: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    throw new TypeError(`${where} is not a valid URL: its percent-encoding is broken`)
  }
}

/** The values are text. Numbers are checked with those of all options. */
function withQuery(options: RedisOptions, query: URLSearchParams, where: string): RedisOptions {
  const all: Record<string, unknown> = { ...options }
  for (const [key, value] of query) {
    if (key === 'tls') throw new TypeError(`${where} is a URL with tls in its query: begin it with rediss://`)
    if (!IN_QUERY.includes(key) && !SERVER.ignored.includes(key))
      throw unknownOption(key, IN_QUERY, `${where}'s query`)
    if (all[key] !== undefined && all[key] !== '')
      throw new TypeError(`${where} is a URL that gives ${key} twice`)
    all[key] = value
  }
  return all as RedisOptions
}
