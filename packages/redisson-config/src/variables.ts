import { isObject } from './section'

export type Env = Readonly<Record<string, string | undefined>>

/** `${NAME}`, `${NAME:-default}` by Redisson's rule, and `${NAME:default}` by Spring's. The default may be empty. */
export function withVariables(text: string, env: Env, where = 'the Redisson configuration'): string {
  return text.replace(/\$\{([\w.]+)(?::-?(.*?))?\}/g, (_, name: string, fallback?: string) => {
    const value = (Object.hasOwn(env, name) ? env[name] : undefined) ?? fallback
    if (value === undefined) throw new TypeError(`${where} uses the variable ${name}, which is not set`)
    return value
  })
}

/** A value with the variables in all its texts replaced. */
export function resolved(value: unknown, env: Env, where?: string): unknown {
  if (typeof value === 'string') return withVariables(value, env, where)
  if (Array.isArray(value)) return value.map((each) => resolved(each, env, where))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, resolved(each, env, where)]))
}
