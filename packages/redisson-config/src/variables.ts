import { isObject } from './section'

export type Env = Readonly<Record<string, string | undefined>>

/** The values of variables, and what stands for a variable without a value and a default. */
export interface Variables {
  valueOf(name: string): string | undefined
  missing(name: string, written: string): string
  /** The default by the rule of the file; what comes after the first colon. */
  fallback(given: string): string
}

/** `${NAME}`, `${NAME:-default}` by Redisson's rule, and `${NAME:default}` by Spring's. The default may be empty. */
export function redissonVariables(env: Env, where: string): Variables {
  return {
    valueOf: (name) => valueIn(env, name),
    missing: (name) => {
      throw notSet(name, where)
    },
    fallback: (given) => given.replace(/^-/, ''),
  }
}

/**
 * By Spring's rule: a variable is one of the environment, under its own name or the name that Spring makes of it, or else another
 * key of the file. Its value may have variables, too. As in Java, one of those without a value stays as it is.
 */
export function springVariables(env: Env, keyOfFile: (key: string) => unknown, where: string): Variables {
  const open: string[] = []
  const inside: Variables = {
    valueOf: (name) => {
      const given = inEnvironment(env, name) ?? keyOfFile(name)
      if (given === undefined) return undefined
      if (open.includes(name))
        throw new TypeError(`${where} uses the variable ${name}, which contains itself`)
      open.push(name)
      try {
        return replaced(String(given), inside)
      } finally {
        open.pop()
      }
    },
    missing: (_, written) => written,
    fallback: (given) => given,
  }
  return {
    ...inside,
    missing: (name) => {
      throw notSet(name, where)
    },
  }
}

/** The name is a value of the file, too: `pa${ss` may be a part of a password. */
export function notSet(name: string, where: string): TypeError {
  const shown = /^[A-Za-z_][\w.-]{0,60}$/.test(name) ? `the variable ${name}` : 'a variable'
  return new TypeError(`${where} uses ${shown}, which is not set`)
}

function valueIn(env: Env, name: string): string | undefined {
  return Object.hasOwn(env, name) ? env[name] : undefined
}

/** `app.redis-password` is also APP_REDISPASSWORD and APP_REDIS_PASSWORD. */
function inEnvironment(env: Env, name: string): string | undefined {
  const dotted = name.replaceAll('.', '_')
  const names = [name, dotted, name.replaceAll('-', '_'), dotted.replaceAll('-', '_')]
  const all = [
    name,
    dotted.replaceAll('-', '').toUpperCase(),
    ...names,
    ...names.map((each) => each.toUpperCase()),
  ]
  return all.map((each) => valueIn(env, each)).find((value) => value !== undefined)
}

/** Replaces each `${…}`. The name and the default may contain others. */
export function replaced(text: string, variables: Variables): string {
  const start = text.indexOf('${')
  if (start < 0) return text
  const { colon, end } = partsOf(text, start)
  if (end === undefined) return text.slice(0, start + 2) + replaced(text.slice(start + 2), variables)
  const name = replaced(text.slice(start + 2, colon ?? end), variables)
  const fallback = colon === undefined ? undefined : variables.fallback(text.slice(colon + 1, end))
  const value =
    variables.valueOf(name) ??
    (fallback === undefined
      ? variables.missing(name, text.slice(start, end + 1))
      : replaced(fallback, variables))
  return text.slice(0, start) + value + replaced(text.slice(end + 1), variables)
}

/** The colon before the default of the variable that begins at `start`, and its brace. Both are in one line. */
function partsOf(text: string, start: number): { colon?: number | undefined; end?: number } {
  let colon: number | undefined
  for (let at = start + 2, depth = 0; at < text.length && text[at] !== '\n'; at++) {
    if (text.startsWith('${', at)) depth++
    else if (text[at] === ':' && depth === 0) colon ??= at
    else if (text[at] === '}' && depth-- === 0) return { colon, end: at }
  }
  return {}
}

/** A value with the variables in all its texts replaced. */
export function resolved(value: unknown, variables: Variables): unknown {
  if (typeof value === 'string') return replaced(value, variables)
  if (Array.isArray(value)) return value.map((each) => resolved(each, variables))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, resolved(each, variables)]))
}
