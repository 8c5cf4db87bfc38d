import { isObject } from './section'

const refusal = (key: string) =>
  new TypeError(`${key} of the application.yml must be a map with keys below it, such as ${key}.host`)

/** The words of Spring's relaxed names: `clientName` and `client_name` are `client-name`. */
const relaxed = (name: string) =>
  name.replaceAll('_', '-').replace(/(?<=[a-z])[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

/**
 * The settings below a key, for instance `spring.data.redis`, of all documents; the last one counts. In Spring `a.b: 1` and
 * `a: { b: 1 }` are the same.
 */
export function settingsBelow(
  documents: readonly unknown[],
  key: string,
): Record<string, unknown> | undefined {
  const maps = documents.flatMap((document) => mapsAt(document, key, ''))
  if (maps.length === 0) return undefined
  const settings = Object.create(null) as Record<string, unknown>
  for (const map of maps) for (const [name, value] of Object.entries(map)) put(settings, name, value, key)
  return settings
}

/** The value of a key by its relaxed name, in the last document that has it; undefined for a map. */
export function valueAt(documents: readonly unknown[], key: string): unknown {
  const wanted = key.replaceAll(/[-_]/g, '').toLowerCase()
  let found: unknown
  for (const document of documents)
    for (const [name, value] of isObject(document) ? Object.entries(document) : []) {
      const own = name.replaceAll(/[-_]/g, '').toLowerCase()
      if (own === wanted) found = isObject(value) ? found : (value ?? '')
      else if (wanted.startsWith(`${own}.`)) found = valueAt([value], wanted.slice(own.length + 1)) ?? found
    }
  return found
}

/** The keys, with all above them, whose own name `matches`; not those below such a key. */
export function keysWhere(value: unknown, matches: (key: string) => boolean, above = ''): string[] {
  if (!isObject(value)) return []
  return Object.entries(value).flatMap(([name, each]) => {
    const key = `${above}${name}`
    return matches(key) ? [key] : keysWhere(each, matches, `${key}.`)
  })
}

function mapsAt(value: unknown, path: string, at: string): Record<string, unknown>[] {
  if (value === null || value === undefined) return []
  if (!isObject(value)) throw refusal(at)
  if (path === '') return [value]
  return Object.entries(value).flatMap(([key, each]) => {
    if (key.startsWith(`${path}.`)) return [{ [key.slice(path.length + 1)]: each }]
    if (!`${path}.`.startsWith(`${key}.`)) return []
    return mapsAt(each, path.slice(key.length + 1), at === '' ? key : `${at}.${key}`)
  })
}

function put(settings: Record<string, unknown>, name: string, value: unknown, at: string): void {
  const [first, ...rest] = name.split('.') as [string, ...string[]]
  const key = relaxed(first)
  const own = settings[key]
  if (value === null || value === undefined) {
    // A later document may take back what an earlier one says.
    if (rest.length === 0 && !isObject(own)) delete settings[key]
    return
  }
  if (rest.length === 0 && !isObject(value)) {
    if (isObject(own)) throw refusal(`${at}.${key}`)
    settings[key] = value
    return
  }
  if (own !== undefined && !isObject(own)) throw refusal(`${at}.${key}`)
  const inner: Record<string, unknown> = own ?? Object.create(null)
  settings[key] = inner
  if (rest.length > 0) put(inner, rest.join('.'), value, `${at}.${key}`)
  else for (const [below, each] of Object.entries(value as object)) put(inner, below, each, `${at}.${key}`)
}
