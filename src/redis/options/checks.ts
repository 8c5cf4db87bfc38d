import { describe, wholeNumber } from '../../api/arguments'

/** Returns the value as ioredis wants it, or throws. No message contains the value: in the wrong field it may be a password. */
export type Check = (value: unknown, name: string) => unknown

export const text = ofType('string')
export const flag = ofType('boolean')
export const callable = ofType('function')
export const port = whole(1, 65_535)

export function isPlainObject(value: unknown): value is Record<string, unknown> {
  return Object.prototype.toString.call(value) === '[object Object]'
}

function ofType(type: 'string' | 'boolean' | 'function'): Check {
  return (value, name) => {
    if (typeof value !== type) throw new TypeError(`${name} must be a ${type}, got ${describe(value)}`)
    return value
  }
}

export const present: Check = (value) => value

/** Accepts text as well, because environment variables are text. */
export function whole(least: number, most: number): (value: unknown, name: string) => number {
  return (value, name) => {
    if (typeof value !== 'string') return wholeNumber(name, value, least, most)
    if (!/^\d+$/.test(value)) throw new TypeError(`${name} must be a number, got text that is not a number`)
    return wholeNumber(name, Number(value), least, most)
  }
}

export function family(value: unknown, name: string): number {
  const number = whole(0, 6)(value, name)
  if (![0, 4, 6].includes(number))
    throw new RangeError(`${name} must be 4 or 6, or 0 for either, got ${number}`)
  return number
}

export const milliseconds = whole(0, Number.MAX_SAFE_INTEGER)

export const host = textUnless(
  // One colon separates a port; an IPv6 address has more colons.
  /[\s/@?#]|^[^:]*:[^:]*$/,
  'the name or the address of a host; a URL is given as redis itself',
)
export const path = textUnless(/^\w[\w+.-]*:/, 'the path of a socket; a URL is given as redis itself')

/** The name becomes a part of messages, and a URL may have a password. */
export const primaryName = textUnless(
  /[\s/@]/,
  'the name under which the sentinels know the primary, and no URL',
)

function textUnless(wrong: RegExp, what: string): Check {
  return (value, name) => {
    if (text(value, name) === '') throw new TypeError(`${name} is empty: is an environment variable missing?`)
    if (wrong.test(value as string)) throw new TypeError(`${name} must be ${what}`)
    return value
  }
}

/** ioredis takes options, the name of one of its profiles, or true. */
export function tls(value: unknown, name: string): unknown {
  if (typeof value !== 'object' && typeof value !== 'boolean' && typeof value !== 'string')
    throw new TypeError(`${name} must be an object of options for tls.connect, got ${describe(value)}`)
  return value
}
