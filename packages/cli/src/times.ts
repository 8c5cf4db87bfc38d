import { UsageError } from './exit'

const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** Reads `500ms`, `50s`, `5m`, `2h` or `1d`; the result is in ms. A number without a unit is refused: it could mean either. */
export function parseTime(option: string, given: string): number {
  const [, value, unit] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(given) ?? []
  const time = Number(value) * (UNITS[unit as keyof typeof UNITS] ?? Number.NaN)
  if (!Number.isSafeInteger(Math.ceil(time)))
    throw new UsageError(`--${option} takes a time such as 500ms, 50s or 5m, got ${JSON.stringify(given)}`)
  return Math.ceil(time)
}

/** `5m 3s`, `1.5s`, `20ms`; a dash for what is not known. */
export function showTime(ms: number | null): string {
  if (ms === null) return '-'
  if (ms === -1) return 'no expiry'
  if (ms < 0) return 'ended'
  if (ms < 1_000) return `${Math.round(ms)}ms`
  if (ms < 60_000) return `${(Math.floor(ms / 100) / 10).toFixed(1)}s`
  const seconds = Math.floor(ms / 1_000)
  const parts: string[] = []
  for (const [unit, size] of [
    ['d', 86_400],
    ['h', 3_600],
    ['m', 60],
    ['s', 1],
  ] as const) {
    const count =
      Math.floor(seconds / size) % (unit === 'd' ? Number.MAX_SAFE_INTEGER : unit === 'h' ? 24 : 60)
    if (count > 0) parts.push(`${count}${unit}`)
  }
  return parts.slice(0, 2).join(' ')
}
