import type { RedisOptions, SentinelAddress } from 'ioredis'
import { describe } from '../../api/arguments'
import { KNOWN, TAKEN, TAKEN_FROM_SENTINEL } from './option-names'
import { refuseUnknown } from './unknown-option'

const LAST_PORT = 65_535
/** Servers count databases by an int. */
const LAST_DATABASE = 2 ** 31 - 1

type Check = (value: unknown, name: string) => unknown

const anyText = ofType('string')
const flag = ofType('boolean')
const callable = ofType('function')

const CHECKS: Readonly<Record<string, Check>> = {
  host,
  path,
  port: (value, name) => whole(value, name, 1, LAST_PORT),
  family,
  db: (value, name) => whole(value, name, 0, LAST_DATABASE),
  username: anyText,
  password: anyText,
  sentinelUsername: anyText,
  sentinelPassword: anyText,
  name: primaryName,
  connectionName: anyText,
  clientInfoTag: anyText,
  connectTimeout: milliseconds,
  sentinelCommandTimeout: milliseconds,
  enableReadyCheck: flag,
  tls,
  sentinelTLS: tls,
  Connector: callable,
  dnsLookup: callable,
  resolveSrv: callable,
  useSRVRecords: flag,
  slotsRefreshTimeout: milliseconds,
  slotsRefreshInterval: milliseconds,
}

export function isPlainObject(value: unknown): value is Record<string, unknown> {
  return Object.prototype.toString.call(value) === '[object Object]'
}

/** Returns these options, in the types that ioredis wants. An option that is undefined or null counts as absent. */
export function take(options: object, names: readonly string[], where: string): RedisOptions {
  refuseKeyPrefix(options)
  const taken: Record<string, unknown> = {}
  for (const name of names) {
    const value = (options as Record<string, unknown>)[name]
    if (value !== undefined && value !== null)
      taken[name] = CHECKS[name]?.(value, `${where}.${name}`) ?? value
  }
  return taken as RedisOptions
}

function refuseKeyPrefix(options: { keyPrefix?: unknown }): void {
  if (options.keyPrefix)
    throw new TypeError(
      'keyPrefix is not supported: it would reach keys but not channels. Use the nameMapper option, which maps both',
    )
}

/** Throws for an unknown option, and if the options do not say where the server is. */
export function checkServer(options: object, where: string): void {
  refuseKeyPrefix(options)
  refuseUnknown(options, where, KNOWN, TAKEN)
  checkAddress(options, where, ['path', 'sentinels', 'Connector'])
}

/** Checks the sentinels of the caller. */
export function checkSentinels(sentinels: unknown): SentinelAddress[] {
  if (!Array.isArray(sentinels) || sentinels.length === 0)
    throw new TypeError('redis.sentinels must be an array that names at least one sentinel')
  // Array.from, because `map` skips the holes of an array.
  return Array.from(sentinels, (sentinel: unknown, at) => {
    const where = `redis.sentinels[${at}]`
    if (!isPlainObject(sentinel))
      throw new TypeError(`${where} must be an object with host and port, got ${describe(sentinel)}`)
    if ('password' in sentinel || 'username' in sentinel)
      throw new TypeError(
        `${where}.password and username are unknown: give redis.sentinelPassword and sentinelUsername, for all of them`,
      )
    refuseUnknown(sentinel, where, TAKEN_FROM_SENTINEL)
    checkAddress(sentinel, where, [])
    return take(sentinel, TAKEN_FROM_SENTINEL, where) as SentinelAddress
  })
}

/** Throws unless the options have a host, a port or one of `others`. A host must not be undefined. */
export function checkAddress(options: object, where: string, others: readonly string[]): void {
  const given = options as Record<string, unknown>
  const has = (name: string) => given[name] !== undefined && given[name] !== null
  if (others.some(has)) return
  if ('host' in given && !has('host'))
    throw new TypeError(`${where}.host is ${given.host}: is an environment variable missing?`)
  if (!has('host') && !has('port'))
    throw new TypeError(
      `${where} does not say where the server is: it needs one of ${['host', 'port', ...others].join(', ')}`,
    )
}

// No message contains the value: in the wrong field it may be a password.
function ofType(type: 'string' | 'boolean' | 'function'): Check {
  return (value, name) => {
    if (typeof value !== type) throw new TypeError(`${name} must be a ${type}, got ${describe(value)}`)
    return value
  }
}

function text(value: unknown, name: string): string {
  if (anyText(value, name) === '')
    throw new TypeError(`${name} is empty: is an environment variable missing?`)
  return value as string
}

function host(value: unknown, name: string): string {
  // One colon separates a port; an IPv6 address has more colons.
  if (/[\s/@?#]|^[^:]*:[^:]*$/.test(text(value, name)))
    throw new TypeError(`${name} must be the name or the address of a host; a URL is given as redis itself`)
  return value as string
}

function path(value: unknown, name: string): string {
  if (/^\w[\w+.-]*:/.test(text(value, name)))
    throw new TypeError(`${name} must be the path of a socket; a URL is given as redis itself`)
  return value as string
}

/** The name becomes a part of messages, and a URL may have a password. */
function primaryName(value: unknown, name: string): string {
  if (/[\s/@]/.test(anyText(value, name) as string))
    throw new TypeError(`${name} must be the name under which the sentinels know the primary, and no URL`)
  return value as string
}

/** Accepts text as well, because environment variables are text. */
function whole(value: unknown, name: string, least: number, most: number): number {
  const number = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value
  if (typeof number !== 'number')
    throw new TypeError(
      `${name} must be a number, got ${typeof value === 'string' ? 'text that is not a number' : describe(value)}`,
    )
  if (!Number.isInteger(number) || number < least || number > most)
    throw new RangeError(`${name} must be a whole number from ${least} to ${most}, got ${number}`)
  return number
}

function family(value: unknown, name: string): number {
  const number = whole(value, name, 0, 6)
  if (number !== 0 && number !== 4 && number !== 6)
    throw new RangeError(`${name} must be 4 or 6, or 0 for either, got ${number}`)
  return number
}

function milliseconds(value: unknown, name: string): number {
  if (typeof value !== 'number') throw new TypeError(`${name} must be a number, got ${describe(value)}`)
  if (!(value >= 0 && value < Number.POSITIVE_INFINITY))
    throw new RangeError(`${name} must be 0 ms or more and finite, got ${value}`)
  return value
}

/** ioredis takes options, the name of one of its profiles, or true. */
function tls(value: unknown, name: string): unknown {
  if (typeof value !== 'object' && typeof value !== 'boolean' && typeof value !== 'string')
    throw new TypeError(`${name} must be an object of options for tls.connect, got ${describe(value)}`)
  return value
}
