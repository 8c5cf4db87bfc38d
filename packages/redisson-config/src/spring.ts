import { type JavaConfig, redissonYaml } from './java-config'
import { isObject, present, Section, type Source } from './section'
import { NOT_CARRIED_OF_SPRING, NOT_KNOWN_OF_SPRING, type NotCarriedOver } from './settings'
import { keysWhere, settingsBelow, valueAt } from './spring-keys'
import { type Env, resolved, springVariables } from './variables'

const matters = (name: string, why: string): NotCarriedOver => ({ name, why, matters: true })

/** The keys that redisson-spring-boot-starter reads; the first is what they stand below. */
const OF_STARTER = /^spring\.redis\.redisson(\.(config|file))?$/
/** Variables that come before the file. Spring takes `spring.data.redis.host` as well as SPRING_DATA_REDIS_HOST. */
const OF_SPRING = /^spring[._](application[._]json$|((data[._])?redis|profiles|config)[._])/i
/** A level of the log, or a switch of a health check, changes no lock. */
const HARMLESS = /^(logging|management)\./

/**
 * What may change the locks of the Java service and is not read here: sections that its own code reads, other documents and files
 * of Spring, and variables that come before the file.
 */
export function notReadBySpring(
  documents: readonly unknown[],
  conditional: readonly unknown[],
  env: Env,
): NotCarriedOver[] {
  const sections = documents.flatMap((document) =>
    keysWhere(document, (key) => /redisson/i.test(key) && !OF_STARTER.test(key)),
  )
  const own = new Set(sections.filter((key) => !HARMLESS.test(key)))
  const files = ['spring.profiles.active', 'spring.profiles.include', 'spring.config.import']
  const more = files.filter((key) => valueAt(documents, key) !== undefined)
  const variables = Object.keys(env).filter((name) => OF_SPRING.test(name))
  return [
    ...[...own].map((key) => matters(key, OWN_SECTION)),
    ...(isOfTwoVersions(documents) ? [matters('spring.redis', OLDER)] : []),
    ...(conditional.some((document) => /redis/i.test(JSON.stringify(document)))
      ? [matters('the documents for a profile', PROFILES)]
      : []),
    ...more.map((key) => matters(key, OTHER_FILES)),
    ...variables.map((name) => matters(name, VARIABLES)),
  ]
}

const OWN_SECTION =
  'code of the Java service reads it, and not redisson-spring-boot-starter: give a prefix of names there as the option nameMapper, ' +
  'and make sure that an address or a database there is the same'
const OLDER = 'Spring Boot 2 reads it, and not spring.data.redis: the two differ'
const PROFILES =
  'Spring reads them for that profile only, which is not known here: give the document that your service uses'
const OTHER_FILES =
  'Spring reads more files, which come before this one: give the file that has the address of Redis'
const VARIABLES = 'Spring takes this variable before the keys of the file: write its value into them'

function isOfTwoVersions(documents: readonly unknown[]): boolean {
  const [newer, older] = ['spring.data.redis', 'spring.redis'].map((key) => {
    const { redisson: _redisson, ...settings } = settingsBelow(documents, key) ?? {}
    return settings
  })
  const isGiven = Object.keys(older!).length > 0 && Object.keys(newer!).length > 0
  return isGiven && JSON.stringify(older) !== JSON.stringify(newer)
}

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
