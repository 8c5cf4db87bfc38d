import { isObject, present, REDISSON_YAML, Section, type Source } from './section'
import { NOT_CARRIED_OF_SPRING, NOT_KNOWN_OF_SPRING, type NotCarriedOver } from './settings'
import { settingsBelow } from './spring-keys'
import { type Env, resolved } from './variables'

/** A configuration of Redisson, as text or as its content, and the file that messages name. */
export interface JavaConfig {
  readonly config: string | object
  readonly source: Source
  readonly notCarriedOver: readonly NotCarriedOver[]
}

const FILE = 'the application.yml'

export function isOfSpring(content: unknown): content is Record<string, unknown> {
  return isObject(content) && Object.keys(content).some((key) => /^spring(\.|$)/.test(key))
}

/** As redisson-spring-boot-starter reads an application.yml. */
export function ofSpring(content: Record<string, unknown>, env: Env): JavaConfig {
  const [newer, older] = ['spring.data.redis', 'spring.redis'].map((key) => settingsBelow(content, key))
  const starter = older?.redisson ?? newer?.redisson
  const starterKey = `spring.${older?.redisson === undefined ? 'data.' : ''}redis.redisson`
  if (isObject(starter) && starter.config !== undefined) {
    if (typeof starter.config !== 'string')
      throw new TypeError(
        `${starterKey}.config of ${FILE} must be the text of a redisson.yaml: write \`config: |\``,
      )
    return { config: starter.config, source: REDISSON_YAML, notCarriedOver: [] }
  }
  if (isObject(starter) && starter.file !== undefined)
    throw new TypeError(`${starterKey}.file of ${FILE} names a file for redisson: give the text of that file`)
  const redis = newer ?? older
  if (!redis) throw new TypeError(`${FILE} has neither spring.redis.redisson.config nor spring.data.redis`)
  return fromProperties(redis, newer ? 'spring.data.redis.' : 'spring.redis.', env)
}

/** Spring Boot's own properties of Redis. */
function fromProperties(redis: Record<string, unknown>, path: string, env: Env): JavaConfig {
  const url = redis.url !== undefined
  const source = sourceOf(path, url ? 'url' : 'host', env)
  const section = new Section(redis, path, source)
  section.take('redisson')
  const inner = (name: string) => {
    const own = section.take(name)
    if (own !== undefined && !isObject(own)) throw section.refusal(name, 'must be a map')
    return own && new Section(own, `${path}${name}.`, source)
  }
  const [sentinel, cluster] = [inner('sentinel'), inner('cluster')]
  const ssl = isObject(redis.ssl) ? inner('ssl') : undefined
  // A bundle alone means TLS, too.
  const tls = ssl ? (ssl.flag('enabled') ?? ssl.peek('bundle') !== undefined) : section.flag('ssl')
  const scheme = tls ? 'rediss://' : 'redis://'
  const common = present({
    username: section.text('username'),
    password: section.text('password'),
    database: section.number('database'),
    clientName: section.text('client-name'),
  })
  const single = url ? urlOf(section) : `${scheme}${hostOf(section)}`
  const config = sentinel
    ? {
        sentinelServersConfig: {
          ...common,
          sentinelAddresses: nodesOf(sentinel, scheme),
          ...present({
            masterName: sentinel.text('master'),
            sentinelUsername: sentinel.text('username'),
            sentinelPassword: sentinel.text('password'),
          }),
        },
      }
    : cluster
      ? { clusterServersConfig: { ...common, nodeAddresses: nodesOf(cluster, scheme) } }
      : { singleServerConfig: { ...common, address: single } }
  const sections = [section, sentinel, cluster, ssl]
  return { config, source, notCarriedOver: sections.flatMap((each) => each?.notCarriedOver() ?? []) }
}

function sourceOf(path: string, address: 'url' | 'host', env: Env): Source {
  const keys = {
    address,
    clientName: 'client-name',
    masterName: 'sentinel.master',
    sentinelAddresses: 'sentinel.nodes',
    sentinelUsername: 'sentinel.username',
    sentinelPassword: 'sentinel.password',
    nodeAddresses: 'cluster.nodes',
  }
  const same = ['username', 'password', 'database'].map((name) => [name, name])
  return {
    title: FILE,
    keys: Object.fromEntries(
      [...same, ...Object.entries(keys)].map(([name, key]) => [name!, `${path}${key}`]),
    ),
    explained: NOT_CARRIED_OF_SPRING,
    unknown: NOT_KNOWN_OF_SPRING,
    read: (value, key) => resolved(value, env, `${key} of ${FILE}`),
  }
}

function hostOf(section: Section): string {
  const host = section.text('host') ?? 'localhost'
  const port = section.number('port') ?? 6379
  if (!/^[\w.:-]+$/.test(host)) throw section.refusal('host', 'must be the name or the IP of one host')
  if (port < 1 || port > 65_535) throw section.refusal('port', 'must be from 1 to 65535')
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** Of a URL Spring takes the database from some version on, and `spring.data.redis.database` before. */
function urlOf(section: Section): string {
  const url = section.text('url')!
  const [, database] = (URL.canParse(url) && /^\/(\d+)$/.exec(new URL(url).pathname)) || []
  if (database !== undefined && Number(database) !== (section.number('database') ?? 0))
    throw section.refusal(
      'url',
      'names another database than the key database beside it, and it depends on the version of Spring which of the two counts: give both the same',
    )
  return url
}

function nodesOf(section: Section, scheme: string): string[] {
  const given = section.take('nodes') ?? ''
  const all = (Array.isArray(given) ? given : String(given).split(',')).map((node) => String(node).trim())
  if (!all.every((node) => /^[^\s/@]+:\d+$/.test(node)))
    throw section.refusal('nodes', 'must have at least one address, each such as host:6379')
  return all.map((node) => `${scheme}${node}`)
}
