import type { RedissonOptions } from 'rlock'
import { parseAllDocuments, parseDocument, visit } from 'yaml'
import { isObject, present, REDISSON_YAML, Section } from './section'
import { cluster, sentinel, single } from './servers'
import { type NotCarriedOver, REFUSED_MODES } from './settings'
import { isOfSpring, type JavaConfig, ofSpring } from './spring'
import { type Env, resolved, withVariables } from './variables'

export type { NotCarriedOver } from './settings'

/** Options of `fromRedissonConfig()`. */
export interface FromRedissonConfigOptions {
  /**
   * The values for `${NAME}` in the configuration. Java's system properties are not there.
   * @default process.env
   */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined
}

/** What `fromRedissonConfig()` makes of a configuration. */
export interface FromRedissonConfig {
  /** The options for `Redisson.create`. */
  readonly options: RedissonOptions
  /**
   * The settings of the configuration that are not in `options`. Log those that matter, or refuse to start. A `nameMapper`,
   * for instance, is Java code: without the same mapping, Node and Java use different locks.
   */
  readonly notCarriedOver: readonly NotCarriedOver[]
}

const MODES = { singleServerConfig: single, sentinelServersConfig: sentinel, clusterServersConfig: cluster }

/**
 * Makes options of a configuration of Java's Redisson, for `Redisson.create`. The configuration is the text of a
 * `redisson.yaml`, or its content as an object, or those of Spring's `application.yml`: `spring.redis.redisson.config`, or
 * `spring.data.redis`. Reads no file and opens no connection.
 *
 * @throws TypeError for a configuration that it cannot use: text that is not YAML, no mode or several modes,
 * `masterSlaveServersConfig`, `replicatedServersConfig`, an encrypted password, a variable that is not set. The message
 * contains no value of the configuration.
 * @example
 * ```ts
 * import { Redisson } from 'rlock'
 * import { fromRedissonConfig } from '@rlock/redisson-config'
 * const { options } = fromRedissonConfig('singleServerConfig: { address: "redis://127.0.0.1:6379" }')
 * const client = await Redisson.create(options)
 * ```
 */
export function fromRedissonConfig(
  config: string | Uint8Array | object,
  { env = process.env }: FromRedissonConfigOptions = {},
): FromRedissonConfig {
  const { config: java, source, notCarriedOver } = javaConfig(config, env)
  const settings = typeof java === 'string' ? parse(withVariables(java, env)) : java
  if (!isObject(settings))
    throw new TypeError(
      `a Redisson configuration is the text of a redisson.yaml or an object, got ${settings === null ? 'null' : typeof settings}`,
    )
  const mode = modeOf(settings)
  const root = new Section(settings, '', source)
  const section = new Section(root.take(mode) as Record<string, unknown>, `${mode}.`, source)
  const redis = MODES[mode](section, root)
  const options = present({
    lockWatchdogTimeout: root.number('lockWatchdogTimeout'),
    lockWatchdogBatchSize: root.number('lockWatchdogBatchSize'),
    checkLockSyncedSlaves: root.flag('checkLockSyncedSlaves'),
    slavesSyncTimeout: root.number('slavesSyncTimeout'),
    shardedSubscriptionMode:
      mode === 'clusterServersConfig'
        ? section.oneOf('shardedSubscriptionMode', ['AUTO', 'ON', 'OFF'])
        : undefined,
  })
  return {
    options: { redis, ...options },
    notCarriedOver: [...notCarriedOver, ...root.notCarriedOver(), ...section.notCarriedOver()],
  }
}

/** The configuration of Redisson, also within an application.yml. Variables of other sections need not be set. */
function javaConfig(given: string | Uint8Array | object, env: Env): JavaConfig {
  const config = given instanceof Uint8Array ? new TextDecoder().decode(given) : given
  if (typeof config !== 'string')
    return isOfSpring(config) ? ofSpring(config, env) : redissonYaml(resolved(config, env) as object)
  if (/^spring\.[\w.-]+ *=/m.test(config))
    throw new TypeError('an application.properties is not read: give a redisson.yaml or an application.yml')
  const content = /^["']?spring\b/m.test(config) ? parse(config) : undefined
  if (!isOfSpring(content)) return redissonYaml(config)
  const read = ofSpring(content, env)
  const profiles = parseAllDocuments(config, { logLevel: 'silent' }).length > 1
  return profiles ? { ...read, notCarriedOver: [...read.notCarriedOver, LATER_DOCUMENTS] } : read
}

const redissonYaml = (config: string | object): JavaConfig => ({
  config,
  source: REDISSON_YAML,
  notCarriedOver: [],
})

/** Spring lays them over the first one where their profile is active, so the address of production is often there. */
const LATER_DOCUMENTS: NotCarriedOver = {
  name: 'the documents after the first',
  why: 'they are for profiles of Spring, which are not known here: give the document that your service uses',
  matters: true,
}

function modeOf(settings: Record<string, unknown>): keyof typeof MODES {
  for (const [name, why] of Object.entries(REFUSED_MODES))
    if (isObject(settings[name]))
      throw new TypeError(`${name} of the Redisson configuration has no counterpart: ${why}`)
  const modes = Object.keys(MODES).filter((name) => isObject(settings[name]))
  const [mode, another] = modes as (keyof typeof MODES)[]
  if (!mode) throw new TypeError(`the Redisson configuration has none of ${Object.keys(MODES).join(', ')}`)
  if (another) throw new TypeError(`the Redisson configuration has both ${mode} and ${another}`)
  return mode
}

/**
 * Java's classes are tags in YAML (`!<org.redisson.codec.Kryo5Codec> {}`). Their content is read as plain values. Numbers and
 * flags stay the text that they are in the file: only the setting knows its type, and a password may be `0123456`.
 */
function parse(text: string): unknown {
  const document = parseDocument(text, { logLevel: 'silent' })
  const [error] = document.errors
  if (error)
    throw new TypeError(
      `the Redisson configuration is not YAML (${error.code}, line ${error.linePos?.[0].line ?? '?'})`,
    )
  visit(document, {
    Scalar: (_, scalar) => {
      if (scalar.value !== null) scalar.value = scalar.source ?? scalar.value
    },
  })
  try {
    return document.toJS()
  } catch {
    throw new TypeError('the Redisson configuration is not YAML (its aliases cannot be resolved)')
  }
}
