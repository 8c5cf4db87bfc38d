import { isObject } from './section'

const refusal = (key: string) =>
  new TypeError(`${key} of the application.yml must be a map with keys below it, such as ${key}.host`)

/** The words of Spring's relaxed names: `clientName` and `client_name` are `client-name`. */
const relaxed = (name: string) =>
  name.replaceAll('_', '-').replace(/(?<=[a-z])[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

/** The settings below a key, for instance `spring.data.redis`. In Spring `a.b: 1` and `a: { b: 1 }` are the same. */
export function settingsBelow(content: unknown, key: string): Record<string, unknown> | undefined {
  const maps = mapsAt(content, key, '')
  if (maps.length === 0) return undefined
  const settings = Object.create(null) as Record<string, unknown>
  for (const map of maps) for (const [name, value] of Object.entries(map)) put(settings, name, value, key)
  return settings
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
  if (value === null || value === undefined) return
  const [first, ...rest] = name.split('.') as [string, ...string[]]
  const key = relaxed(first)
  const own = settings[key]
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
