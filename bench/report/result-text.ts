/** Digits of a figure that is no whole number. The pages show fewer, and a ratio of two figures is still right to two. */
const DIGITS = 4

function rounded(_name: string, value: unknown): unknown {
  return typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(DIGITS)) : value
}

/** Results as they are kept: one line for each measurement, without digits that no page shows. */
export function resultText(results: object): string {
  return `${lines(results)}\n`
}

function lines(value: unknown): string {
  const isObject = typeof value === 'object' && value !== null
  if (Array.isArray(value) && typeof value[0] === 'object')
    return `[\n${value.map((item) => JSON.stringify(item, rounded)).join(',\n')}\n]`
  if (!isObject || !Object.values(value).some((inner) => typeof inner === 'object'))
    return JSON.stringify(value, rounded)
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined)
  return `{\n${entries.map(([name, inner]) => `${JSON.stringify(name)}: ${lines(inner)}`).join(',\n')}\n}`
}
