import type { NotCarriedOver } from './settings'
import { keysWhere, settingsBelow, valueAt } from './spring-keys'
import type { Env } from './variables'

const matters = (name: string, why: string): NotCarriedOver => ({ name, why, matters: true })

/** The keys that redisson-spring-boot-starter reads; the first is what they stand below. */
const OF_STARTER = /^spring\.redis\.redisson(\.(config|file))?$/
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
  const variables = Object.keys(env).filter((name) => /^SPRING_((DATA_)?REDIS|PROFILES|CONFIG)_/.test(name))
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
