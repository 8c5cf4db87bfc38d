import { type Explained, NOT_CARRIED, NOT_KNOWN, type NotCarriedOver } from './settings'

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Without the values that are undefined: a setting that the file does not have is no option either. */
export function present<T extends object>(given: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as typeof given
}

/** The file that the user wrote: messages use its words. */
export interface Source {
  /** What the file is. */
  readonly title: string
  /** The keys of the file, by the names that Redisson has for them. A name without an entry is a key of the file. */
  readonly keys: Readonly<Record<string, string>>
  readonly explained: Readonly<Record<string, Explained>>
  readonly unknown: Explained
  /** The value of a setting, for instance with its variables replaced. */
  read(value: unknown, key: string): unknown
}

export const REDISSON_YAML: Source = {
  title: 'the Redisson configuration',
  keys: {},
  explained: NOT_CARRIED,
  unknown: NOT_KNOWN,
  read: (value) => value,
}

/** The settings at the top of the file, or of one mode. Remembers which settings were read, and explains the others. */
export class Section {
  private readonly read = new Set<string>()

  constructor(
    private readonly settings: Record<string, unknown>,
    /** The prefix of the names, with a dot at its end; empty at the top of the file. */
    private readonly path: string,
    private readonly source = REDISSON_YAML,
  ) {}

  text(name: string): string | undefined {
    const value = this.take(name)
    if (value === undefined) return undefined
    if (typeof value === 'string' || typeof value === 'number') return String(value)
    throw this.refusal(name, 'must be text')
  }

  number(name: string): number | undefined {
    const value = this.take(name)
    if (value === undefined) return undefined
    const number = typeof value === 'string' && /^(0|[1-9]\d*)$/.test(value) ? Number(value) : value
    if (typeof number === 'number' && Number.isSafeInteger(number)) return number
    throw this.refusal(name, 'must be a whole number')
  }

  flag(name: string): boolean | undefined {
    const value = this.take(name)
    if (value === undefined) return undefined
    if (/^(true|yes|on)$/i.test(String(value))) return true
    if (/^(false|no|off)$/i.test(String(value))) return false
    throw this.refusal(name, 'must be true or false')
  }

  oneOf<T extends string>(name: string, values: readonly T[]): T | undefined {
    const value = this.text(name)
    if (value === undefined || values.includes(value as T)) return value as T | undefined
    throw this.refusal(name, `must be one of ${values.join(', ')}`)
  }

  /** One text, or a list of texts. */
  texts(name: string): string[] {
    const value = this.take(name)
    const all = Array.isArray(value) ? value : value === undefined ? [] : [value]
    if (all.length === 0 || !all.every((each) => typeof each === 'string'))
      throw this.refusal(name, 'must name at least one address')
    return all
  }

  /** The value of a setting, which does not count as read by this. */
  peek(name: string): unknown {
    return this.settings[name] ?? undefined
  }

  /** The settings of the map at a key. */
  below(name: string): Section | undefined {
    const value = this.peek(name)
    this.ignore(name)
    if (value === undefined) return undefined
    if (!isObject(value)) throw this.refusal(name, 'must be a map')
    return new Section(value, `${this.path}${name}.`, this.source)
  }

  /** Counts a setting as read. */
  ignore(name: string): void {
    this.read.add(name)
  }

  take(name: string): unknown {
    this.ignore(name)
    return this.source.read(this.peek(name), `${this.path}${name}`)
  }

  /** The message never contains the value, because it may be a password. */
  refusal(name: string, problem: string): TypeError {
    const key = this.source.keys[name] ?? `${this.path}${name}`
    return new TypeError(`${key} of ${this.source.title} ${problem}`)
  }

  notCarriedOver(): NotCarriedOver[] {
    const left = Object.keys(this.settings).filter(
      (name) => !this.read.has(name) && this.peek(name) !== undefined,
    )
    return left.map((name) => {
      const { explained, unknown } = this.source
      return {
        name: `${this.path}${name}`,
        ...(Object.hasOwn(explained, name) ? explained[name]! : unknown),
      }
    })
  }
}
