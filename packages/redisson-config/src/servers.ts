import type { RedisOptions } from 'ioredis'
import type { RedisSource } from 'rlock'
import { isObject, present, type Section } from './section'

/** The address of a server, from a URL of Redisson. */
interface Address {
  readonly host?: string
  readonly port?: number
  readonly path?: string
  readonly username?: string
  readonly password?: string
  readonly tls: boolean
}

const SOCKET = /^(?:redis|valkey)\+uds:\/\/(\/.*)$/

function parseAddress(text: string, section: Section, name: string): Address {
  const socket = SOCKET.exec(text)
  if (socket) return { path: socket[1]!, tls: false }
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^(redis|valkey)s?:$/.test(url.protocol) || url.hostname === '' || url.port === '0')
    throw section.refusal(name, 'must have addresses such as redis://host:6379')
  // As in Java: one word alone is the password.
  const isPassword = !/:.*@/.test(text.slice(url.protocol.length))
  const [username, password] = isPassword ? ['', url.username] : [url.username, url.password]
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: Number(url.port || 6379),
    ...present({
      username: decoded(username, section, name),
      password: decoded(password, section, name),
    }),
    tls: /^(rediss|valkeys):$/.test(url.protocol),
  }
}

/** As in Java: a plus is a blank. */
function decoded(part: string, section: Section, name: string): string | undefined {
  try {
    return decodeURIComponent(part.replaceAll('+', ' ')) || undefined
  } catch {
    throw section.refusal(name, 'has an address whose percent-encoding is broken')
  }
}

/** The setting in the section of the mode, or at the top of the file, where Redisson 4 has it. */
function credential(name: 'username' | 'password', section: Section, root: Section): string | undefined {
  const [own, top] = [section.text(name), root.text(name)]
  if (own !== undefined && top !== undefined && own !== top)
    throw section.refusal(name, 'differs from the one at the top of the file: keep one of them')
  const value = own ?? top
  if (value?.startsWith('{aes}'))
    throw section.refusal(name, 'is encrypted, which only Redisson PRO can read: give it as it is')
  // Of Jasypt, and of Spring Cloud Config.
  if (value !== undefined && /^(ENC\(.*\)|\{cipher\}.*)$/s.test(value))
    throw section.refusal(name, 'is encrypted, and the Java service decrypts it: give it as it is')
  return value
}

function tlsOptions(section: Section, root: Section): RedisOptions['tls'] & object {
  const modes = ['STRICT', 'CA_ONLY', 'NONE'] as const
  const [own, top] = [section, root].map((each) => each.oneOf('sslVerificationMode', modes))
  const verified = own ?? top
  const identified = section.flag('sslEnableEndpointIdentification')
  if (verified === 'NONE') return { rejectUnauthorized: false }
  if (verified === 'CA_ONLY' || (verified === undefined && identified === false))
    return { checkServerIdentity: () => undefined }
  return {}
}

/** The addresses of a setting, and the TLS options for all of them. As in Java, either all or none use TLS. */
function servers(name: string, section: Section, root: Section) {
  const addresses = section.texts(name).map((each) => parseAddress(each, section, name))
  if (new Set(addresses.map(({ tls }) => tls)).size > 1)
    throw section.refusal(name, 'mixes addresses with and without TLS')
  return {
    addresses: addresses.map(({ tls: _tls, ...where }) => where),
    tls: addresses[0]!.tls ? tlsOptions(section, root) : undefined,
  }
}

/** The options that all modes have in common. */
function common(section: Section, root: Section): RedisOptions {
  const [ownDelay, topDelay] = [section, root].map((each) => each.flag('tcpNoDelay'))
  return present({
    username: credential('username', section, root),
    password: credential('password', section, root),
    connectionName: section.text('clientName'),
    connectTimeout: section.number('connectTimeout'),
    noDelay: ownDelay ?? topDelay,
  })
}

function natMap(section: Section): Record<string, { host: string; port: number }> | undefined {
  const mapper = section.peek('natMapper')
  if (!isObject(mapper) || !isObject(mapper.hostsPortMap)) return undefined
  section.take('natMapper')
  const pairs = Object.entries(mapper.hostsPortMap).map(([from, to]) => {
    const [, host, port] = /^(.+):(\d+)$/.exec(String(to)) ?? []
    if (!host || !port) throw section.refusal('natMapper', 'must map host:port to host:port')
    return [from, { host: host.replace(/^\[|\]$/g, ''), port: Number(port) }] as const
  })
  return Object.fromEntries(pairs)
}

/** `singleServerConfig` */
export function single(section: Section, root: Section): RedisSource {
  const { addresses, tls } = servers('address', section, root)
  if (addresses.length > 1) throw section.refusal('address', 'must be one address')
  return {
    ...common(section, root),
    ...present({ tls, db: section.number('database') }),
    // Last, because in Java the credentials of the address come before the settings.
    ...addresses[0],
  }
}

/** In Java the credentials of an address come before the setting. rlock has one pair of them for all sentinels. */
function sentinelCredential(
  part: 'username' | 'password',
  addresses: readonly Omit<Address, 'tls'>[],
  section: Section,
): string | undefined {
  const [one, another] = new Set(
    addresses.map((address) => address[part]).filter((each) => each !== undefined),
  )
  if (another !== undefined)
    throw section.refusal('sentinelAddresses', `has addresses that differ in their ${part}`)
  const setting = section.text(part === 'username' ? 'sentinelUsername' : 'sentinelPassword')
  return one ?? setting
}

/** `sentinelServersConfig` */
export function sentinel(section: Section, root: Section): RedisSource {
  const { addresses, tls } = servers('sentinelAddresses', section, root)
  const masterName = section.text('masterName')
  if (masterName === undefined) throw section.refusal('masterName', 'is missing')
  return {
    sentinels: addresses.map(({ host, port }) => {
      if (host === undefined) throw section.refusal('sentinelAddresses', 'must have hosts, and no sockets')
      return { host, port: port! }
    }),
    name: masterName,
    // In Redisson the scheme of the sentinels also applies to the servers.
    ...(tls ? { tls, sentinelTLS: tls, enableTLSForSentinelMode: true } : {}),
    ...present({
      sentinelUsername: sentinelCredential('username', addresses, section),
      sentinelPassword: sentinelCredential('password', addresses, section),
      updateSentinels: section.flag('sentinelsDiscovery'),
      db: section.number('database'),
      natMap: natMap(section),
    }),
    ...common(section, root),
  }
}

/** `clusterServersConfig` */
export function cluster(section: Section, root: Section): RedisSource {
  const { addresses, tls } = servers('nodeAddresses', section, root)
  // Only Valkey 9 has clusters with several databases. The server refuses another one, and then create() rejects.
  const redisOptions = present({ tls, db: section.number('database') || undefined, ...common(section, root) })
  return {
    nodes: addresses,
    options: present({
      natMap: natMap(section),
      redisOptions: Object.keys(redisOptions).length > 0 ? redisOptions : undefined,
    }),
  }
}
