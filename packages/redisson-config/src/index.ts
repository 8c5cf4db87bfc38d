import type { RedissonOptions } from 'rlock'
import { type JavaConfig, redissonYaml } from './java-config'
import { isObject, present, Section } from './section'
import { cluster, sentinel, single } from './servers'
import { type NotCarriedOver, REFUSED_MODES } from './settings'
import { isOfSpring, ofSpring } from './spring'
import type { Env } from './variables'
import { documentsOf } from './yaml-text'

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
  const { settings, source, notCarriedOver } = javaConfig(config, env)
  const mode = modeOf(settings)
  const root = new Section(settings, '', source)
  const section = new Section(root.take(mode) as Record<string, unknown>, `${mode}.`, source)
  const redis = MODES[mode](section, root)
  const options = present({
    lockWatchdogTimeout: root.number('lockWatchdogTimeout'),
    lockWatchdogBatchSize: root.number('lockWatchdogBatchSize'),
    checkLockSyncedSlaves: root.flag('checkLockSyncedSlaves'),
    // Refused in options, where it would mean the opposite of what a reader expects.
    slavesSyncTimeout: isZero(root.peek('slavesSyncTimeout')) ? undefined : root.number('slavesSyncTimeout'),
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
    return isOfSpring(config) ? ofSpring([config], env) : redissonYaml(config, env)
  const text = config.replace(/^\uFEFF/, '')
  if (/^spring\.[\w.-]+ *=/m.test(text))
    throw new TypeError('an application.properties is not read: give a redisson.yaml or an application.yml')
  const documents = /^[\s{]*["']?(spring|redisson)\b/im.test(text) ? documentsOf(text) : []
  return documents.some(isOfSpring) ? ofSpring(documents, env) : redissonYaml(text, env)
}

const isZero = (value: unknown) => value === 0 || value === '0'

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
