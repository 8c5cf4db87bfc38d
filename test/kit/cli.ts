/** The parsed options of a program. Prints the usage and ends the process for `--help` and for bad arguments. */
export function optionsOrExit<T>(parse: (args: string[]) => T | undefined, usage: string): T {
  try {
    const options = parse(process.argv.slice(2))
    if (options !== undefined) return options
    console.log(usage)
    process.exit(0)
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${usage}`)
    process.exit(2)
  }
}

interface Range<T> {
  readonly least: number
  readonly most: number
  /** The value where the option was not given. */
  readonly otherwise: T
  readonly whole?: boolean
}

/** The value of `--name`; throws RangeError unless it is a number within the range. */
export function numberOption<T>(name: string, given: string | undefined, range: Range<T>): number | T {
  const { least, most, otherwise, whole = false } = range
  if (given === undefined) return otherwise
  const value = given.trim() === '' ? Number.NaN : Number(given)
  if (value >= least && value <= most && (!whole || Number.isInteger(value))) return value
  const kind = whole ? 'a whole number' : 'a number'
  throw new RangeError(`--${name} takes ${kind} from ${least} to ${most}, got ${JSON.stringify(given)}`)
}

export function wholeOption<T>(
  name: string,
  given: string | undefined,
  otherwise: T,
  least: number,
  most: number,
): number | T {
  return numberOption(name, given, { least, most, otherwise, whole: true })
}

/** `value`; throws TypeError unless it is one of the allowed ones. */
export function oneOf<T extends string>(name: string, value: string, allowed: readonly T[]): T {
  if ((allowed as readonly string[]).includes(value)) return value as T
  throw new TypeError(`--${name} takes one of ${allowed.join(', ')}, got ${JSON.stringify(value)}`)
}

/** The members of `all` that were named, or all of them where none was. */
export function chosen<T extends { name: string }>(
  name: string,
  all: readonly T[],
  wanted: readonly string[] | undefined,
): readonly T[] {
  if (!wanted) return all
  const names = all.map((each) => each.name)
  for (const each of wanted) oneOf(name, each, names)
  return all.filter((each) => wanted.includes(each.name))
}
