import { isObject, present, Section } from './section'
import type { NotCarriedOver } from './settings'

/** What an application.yml says of Redis. */
export interface OfSpring {
  /** A configuration of Redisson: its text, or its content as an object. */
  readonly config: string | object
  readonly notCarriedOver: readonly NotCarriedOver[]
}

const at = (settings: unknown, ...path: string[]): unknown =>
  path.reduce((found, name) => (isObject(found) ? found[name] : undefined), settings)

/** As redisson-spring-boot-starter reads the section `spring` of an application.yml. */
export function ofSpring(spring: Record<string, unknown>): OfSpring {
  const starter = at(spring, 'redis', 'redisson') ?? at(spring, 'data', 'redis', 'redisson')
  const config = at(starter, 'config')
  if (typeof config === 'string') return { config, notCarriedOver: [] }
  if (at(starter, 'file') !== undefined)
    throw new TypeError('the application.yml names a file for redisson: give the text of that file')
  const [path, redis] = isObject(at(spring, 'data', 'redis'))
    ? ['spring.data.redis.', at(spring, 'data', 'redis')]
    : ['spring.redis.', at(spring, 'redis')]
  if (!isObject(redis))
    throw new TypeError('the application.yml has neither spring.redis.redisson.config nor spring.data.redis')
  return fromProperties(redis, path)
}

/** Spring Boot's own properties of Redis. */
function fromProperties(redis: Record<string, unknown>, path: string): OfSpring {
  const section = new Section(redis, path)
  const [sentinel, cluster, ssl] = (['sentinel', 'cluster', 'ssl'] as const).map((name) => {
    const own = section.take(name)
    return new Section(isObject(own) ? own : own === undefined ? {} : { enabled: own }, `${path}${name}.`)
  }) as [Section, Section, Section]
  const scheme = ssl.flag('enabled') ? 'rediss://' : 'redis://'
  const common = present({
    username: section.text('username'),
    password: section.text('password'),
    database: section.take('database'),
    clientName: section.text('client-name'),
  })
  const addresses = (of: Section) => {
    const nodes = of.take('nodes')
    const all = typeof nodes === 'string' ? nodes.split(',') : Array.isArray(nodes) ? nodes : []
    return all.map((node) => `${scheme}${String(node).trim()}`)
  }
  const [sentinelAddresses, nodeAddresses] = [addresses(sentinel), addresses(cluster)]
  const [url, host, port] = (['url', 'host', 'port'] as const).map((name) => section.text(name))
  const config =
    sentinelAddresses.length > 0
      ? {
          sentinelServersConfig: {
            ...common,
            sentinelAddresses,
            ...present({
              masterName: sentinel.text('master'),
              sentinelUsername: sentinel.text('username'),
              sentinelPassword: sentinel.text('password'),
            }),
          },
        }
      : nodeAddresses.length > 0
        ? { clusterServersConfig: { ...common, nodeAddresses } }
        : {
            singleServerConfig: {
              ...common,
              address: url ?? `${scheme}${host ?? 'localhost'}:${port ?? '6379'}`,
            },
          }
  const notCarriedOver = [section, sentinel, cluster, ssl].flatMap((each) => each.notCarriedOver())
  return { config, notCarriedOver }
}
