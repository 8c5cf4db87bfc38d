import { notAnInteger, ReplyError } from './keyspace'

const LARGEST = 2n ** 63n - 1n
const SMALLEST = -(2n ** 63n)

/** A 64-bit integer as Redis writes one: no spaces, no plus, no leading zero; undefined for anything else. */
export function parseInteger(text: string): bigint | undefined {
  if (!/^(0|-?[1-9]\d{0,18})$/.test(text)) return undefined
  const value = BigInt(text)
  return value > LARGEST || value < SMALLEST ? undefined : value
}

export function integer(text: string): bigint {
  const value = parseInteger(text)
  if (value === undefined) throw notAnInteger()
  return value
}

/** A position or a count, for which a double is exact enough. */
export function position(text: string): number {
  return Number(integer(text))
}

export function increased(value: bigint, by: bigint): bigint {
  const sum = value + by
  if (sum > LARGEST || sum < SMALLEST) throw new ReplyError('ERR increment or decrement would overflow')
  return sum
}

/** A double as Redis reads one, by C's strtod; undefined for anything else, and for what a double cannot hold. */
export function parseDouble(text: string): number | undefined {
  const infinity = /^([+-]?)inf(inity)?$/i.exec(text)
  if (infinity) return infinity[1] === '-' ? -Infinity : Infinity
  const isDecimal = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text)
  const value = isDecimal ? Number(text) : parseHexadecimal(text)
  if (value === undefined || !Number.isFinite(value)) return undefined
  return value === 0 && /[1-9a-f]/i.test(text.replace(/^[+-]?0x|[ep].*$/gi, '')) ? undefined : value
}

/** `0x1F`, `-0x.8p-3`. */
function parseHexadecimal(text: string): number | undefined {
  const [, sign, whole = '', rest = '', power = '0'] =
    /^([+-]?)0x(?=\.?[0-9a-f])([0-9a-f]*)\.?([0-9a-f]*)(?:p([+-]?\d+))?$/i.exec(text) ?? []
  if (sign === undefined) return undefined
  const value = Number.parseInt(whole + rest, 16) * 2 ** (Number(power) - 4 * rest.length)
  return sign === '-' ? -value : value
}

/** A double as C prints it with %.17g. Redis 7.0 answers scores in this form, and passes numbers from Lua to commands in it. */
export function doubleText(value: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'nan' : value > 0 ? 'inf' : '-inf'
  if (Object.is(value, -0)) return '-0'
  if (Number.isInteger(value) && Math.abs(value) < 1e17) return String(value)
  const [digits = '', exponent] = value.toPrecision(17).split('e')
  const short = digits.includes('.') ? digits.replace(/\.?0+$/, '') : digits
  const power = exponent === undefined ? Math.floor(Math.log10(Math.abs(value))) : Number(exponent)
  if (power >= -4 && power < 17) return short
  const [mantissa = '', scale = String(power)] = value.toExponential(16).split('e')
  const sign = Number(scale) < 0 ? '-' : '+'
  return `${mantissa.replace(/\.?0+$/, '')}e${sign}${String(Math.abs(Number(scale))).padStart(2, '0')}`
}

/** A slice by the indexes of Redis, where negative ones count from the end: its first index, and the one after its last. */
export function range(from: number, to: number, length: number): [number, number] {
  const first = Math.max(0, from < 0 ? length + from : from)
  const last = Math.min(length - 1, to < 0 ? length + to : to)
  return [first, Math.max(first, last + 1)]
}

/** A pattern of KEYS and PUBSUB CHANNELS: stars, question marks, sets of characters, and backslashes before those. */
export function glob(pattern: string): RegExp {
  const source = pattern.replace(
    /\\(.)|(\*)|(\?)|(\[[^\]]*\])|([^\\*?[])|(.)/gs,
    (_, escaped, star, one, set, plain, odd) => {
      if (star) return '.*'
      if (one) return '.'
      if (set) return set.replace(/\\(?!\])/g, '\\\\')
      return (escaped ?? plain ?? odd).replace(/[$()*+.?[\\\]^{|}]/g, '\\$&')
    },
  )
  return new RegExp(`^${source}$`, 's')
}
