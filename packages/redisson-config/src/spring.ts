import { type JavaConfig, redissonYaml } from './java-config'
import { isObject, present, Section, type Source } from './section'
import { NOT_CARRIED_OF_SPRING, NOT_KNOWN_OF_SPRING } from './settings'
import { notReadBySpring } from './spring-beside'
import { settingsBelow, valueAt } from './spring-keys'
import { type Env, resolved, springVariables } from './variables'

const FILE = 'the application.yml'

export function isOfSpring(content: unknown): content is Record<string, unknown> {
  return isObject(content) && Object.keys(content).some((key) => /^spring(\.|$)/i.test(key))
}

/** Whether Spring reads the document only together with a profile or a platform. */
const isConditional = (document: unknown) =>
  ['spring.config.activate.on-profile', 'spring.config.activate.on-cloud-platform', 'spring.profiles'].some(
    (key) => valueAt([document], key) !== undefined,
  )

const isOfRedis = (documents: readonly unknown[]) =>
  ['spring.data.redis', 'spring.redis'].some((key) => settingsBelow(documents, key) !== undefined)

/** As redisson-spring-boot-starter reads an application.yml. Spring lays its documents over each other. */
export function ofSpring(all: readonly unknown[], env: Env): JavaConfig {
  const documents = all.filter((document) => !isConditional(document))
  const conditional = all.filter(isConditional)
  if (isOfRedis(conditional) && !isOfRedis(documents))
    throw new TypeError(
      `${FILE} has the settings of Redis in documents for a profile only: give the document that your service uses`,
    )
  const read = fromStarter(documents, env)
  return {
    ...read,
    notCarriedOver: [...read.notCarriedOver, ...notReadBySpring(documents, conditional, env)],
  }
}

function fromStarter(documents: readonly unknown[], env: Env): JavaConfig {
  const [newer, older] = ['spring.data.redis', 'spring.redis'].map((key) => settingsBelow(documents, key))
  const variables = (where: string) => springVariables(env, (key) => valueAt(documents, key), where)
  const starter = older?.redisson
  delete older?.redisson
  if (isObject(starter) && starter.config !== undefined) {
    const where = `spring.redis.redisson.config of ${FILE}`
    if (typeof starter.config !== 'string')
      throw new TypeError(`${where} must be the text of a redisson.yaml: write \`config: |\``)
    if (/^(classpath|file):/.test(starter.config))
      throw new TypeError(
        `${where} names a file, and Redisson takes a text there: give the text of that file`,
      )
    return redissonYaml(starter.config, env, variables(where))
  }
  if (isObject(starter) && starter.file !== undefined)
    throw new TypeError(
      `spring.redis.redisson.file of ${FILE} names a file for redisson: give the text of that file`,
    )
  const redis = newer ?? (older && Object.keys(older).length > 0 ? older : undefined)
  if (!redis) throw new TypeError(`${FILE} has neither spring.redis.redisson.config nor spring.data.redis`)
  const path = newer ? 'spring.data.redis.' : 'spring.redis.'
  const read = (value: unknown, key: string) => resolved(value, variables(`${key} of ${FILE}`))
  return fromProperties(redis, path, read)
}

/** Spring Boot's own properties of Redis. `read`: replaces variables. */
function fromProperties(redis: Record<string, unknown>, path: string, read: Source['read']): JavaConfig {
  const url = redis.url !== undefined
  const source = sourceOf(path, url ? 'url' : 'host')
  const section = new Section(redis, path, { ...source, read })
  section.ignore('redisson')
  const [sentinel, cluster] = [section.below('sentinel'), section.below('cluster')]
  const ssl = isObject(redis.ssl) ? section.below('ssl') : undefined
  // A bundle alone means TLS, too.
  const tls = ssl ? (ssl.flag('enabled') ?? ssl.peek('bundle') !== undefined) : section.flag('ssl')
  const scheme = tls ? 'rediss://' : 'redis://'
  const common = present({
    username: section.text('username'),
    password: section.text('password'),
    // The starter does not use it in a cluster.
    database: cluster && !sentinel ? undefined : section.number('database'),
    clientName: section.text('client-name'),
  })
  const single = url ? urlOf(section, tls) : `${scheme}${hostOf(section)}`
  const settings = sentinel
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
  return { settings, source, notCarriedOver: sections.flatMap((each) => each?.notCarriedOver() ?? []) }
}

function sourceOf(path: string, address: 'url' | 'host'): Source {
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
    read: (value) => value,
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
function urlOf(section: Section, tls: boolean | undefined): string {
  const given = section.text('url')!
  const url = tls ? given.replace(/^(redis|valkey):/i, '$1s:') : given
  const [, database] = (URL.canParse(url) && /^\/(\d+)$/.exec(new URL(url).pathname)) || []
  if (database !== undefined && Number(database) !== (section.number('database') ?? 0))
    throw section.refusal(
      'url',
      'names another database than the key database beside it, and it depends on the version of Spring which of the two counts: give both the same',
    )
  // In Redisson's addresses a plus is a blank, and in a URL of Spring it is a plus.
  return url.replace(/^.*@/s, (login) => `${login.slice(0, 6)}${login.slice(6).replaceAll('+', '%2B')}`)
}

function nodesOf(section: Section, scheme: string): string[] {
  const given = section.take('nodes') ?? ''
  const all = (Array.isArray(given) ? given : String(given).split(',')).map((node) => String(node).trim())
  if (!all.every((node) => /^[^\s/@]+:\d+$/.test(node)))
    throw section.refusal('nodes', 'must have at least one address, each such as host:6379')
  return all.map((node) => `${scheme}${node}`)
}
