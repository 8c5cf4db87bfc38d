import { describe, wholeNumber } from '../../api/arguments'

/**
 * Returns the value as ioredis wants it, or throws. No message contains the value: in the wrong field it may
 * be a password.
 */
export type Check = (value: unknown, name: string) => unknown

export function isPlainObject(value: unknown): value is Record<string, unknown> {
  return Object.prototype.toString.call(value) === '[object Object]'
}

/** Accepts text as well, because environment variables are text. */
export function whole(least: number, most: number): (value: unknown, name: string) => number {
  return (value, name) => {
    if (typeof value !== 'string') return wholeNumber(name, value, least, most)
    if (!/^\d+$/.test(value)) throw new TypeError(`${name} must be a number, got text that is not a number`)
    return wholeNumber(name, Number(value), least, most)
  }
}

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
    if (typeof value !== 'string') throw new TypeError(`${name} must be a string, got ${describe(value)}`)
    if (value === '') throw new TypeError(`${name} is empty: is an environment variable missing?`)
    if (wrong.test(value)) throw new TypeError(`${name} must be ${what}`)
    return value
  }
}
