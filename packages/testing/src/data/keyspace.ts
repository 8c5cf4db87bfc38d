/** The answer of a command. Strings have one character for each byte, as everywhere in the in-memory server. */
export type Reply = number | string | null | Status | readonly Reply[]

/** A reply such as `OK`, which Lua sees as a table. */
export class Status {
  constructor(readonly text: string) {}
}

export const OK = new Status('OK')

/** An error reply of the server. Clients recognise it by its name, which ioredis uses as well. */
export class ReplyError extends Error {
  override readonly name = 'ReplyError'
}

export function wrongType(): ReplyError {
  return new ReplyError('WRONGTYPE Operation against a key holding the wrong kind of value')
}

export function syntaxError(): ReplyError {
  return new ReplyError('ERR syntax error')
}

export function notAnInteger(): ReplyError {
  return new ReplyError('ERR value is not an integer or out of range')
}

interface Types {
  string: { text: string }
  hash: Map<string, string>
  list: string[]
  set: Set<string>
  zset: Map<string, number>
}

export type TypeName = keyof Types

interface Entry {
  readonly type: TypeName
  readonly value: Types[TypeName]
  /** When it expires, in ms; undefined: never. */
  expires: number | undefined
}

const LATEST = 2 ** 63

/** The keys of the in-memory server. A key is gone when the time is past its expiry. The time does not change in a script. */
export class Keyspace {
  private readonly entries = new Map<string, Entry>()
  /** The time by the server's clock, in ms, with its fraction. Set before each command and each script. */
  time = 0

  /** In whole milliseconds. */
  get now(): number {
    return Math.floor(this.time)
  }

  private entry(key: string): Entry | undefined {
    const entry = this.entries.get(key)
    if (entry?.expires === undefined || this.now <= entry.expires) return entry
    this.entries.delete(key)
    return undefined
  }

  typeOf(key: string): TypeName | 'none' {
    return this.entry(key)?.type ?? 'none'
  }

  has(key: string): boolean {
    return this.entry(key) !== undefined
  }

  /** The value of a key, which must be of this type; undefined if the key does not exist. */
  read<T extends TypeName>(key: string, type: T): Types[T] | undefined {
    const entry = this.entry(key)
    if (entry && entry.type !== type) throw wrongType()
    return entry?.value as Types[T] | undefined
  }

  /** The same; creates the key with an empty value if it does not exist. */
  write<T extends TypeName>(key: string, type: T, empty: () => Types[T]): Types[T] {
    const found = this.read(key, type)
    if (found) return found
    const value = empty()
    this.entries.set(key, { type, value, expires: undefined })
    return value
  }

  replace<T extends TypeName>(key: string, type: T, value: Types[T]): void {
    this.entries.set(key, { type, value, expires: undefined })
  }

  remove(key: string): boolean {
    return this.has(key) && this.entries.delete(key)
  }

  /** Removes a key whose collection is empty. */
  removeIfEmpty(key: string, size: number): void {
    if (size === 0) this.entries.delete(key)
  }

  /** The time to live in ms, -1 without expiry, -2 without key. */
  timeToLive(key: string): number {
    const entry = this.entry(key)
    if (!entry) return -2
    return entry.expires === undefined ? -1 : Math.max(0, entry.expires - this.now)
  }

  /** Sets when a key expires, in ms; a time in the past removes it. False if the key does not exist. */
  expireAt(key: string, when: number): boolean {
    const entry = this.entry(key)
    if (!entry) return false
    if (when <= this.now) this.entries.delete(key)
    else entry.expires = when
    return true
  }

  /** The time in this many ms, for a command of this name. */
  after(ms: bigint, command: string): number {
    const when = Number(ms) + this.now
    if (when >= LATEST || when < -LATEST)
      throw new ReplyError(`ERR invalid expire time in '${command}' command`)
    return when
  }

  persist(key: string): boolean {
    const entry = this.entry(key)
    if (entry?.expires === undefined) return false
    entry.expires = undefined
    return true
  }

  keys(): string[] {
    return [...this.entries.keys()].filter((key) => this.has(key))
  }

  /** Removes every key whose time is over, before the clock is set to another time. */
  dropExpired(): void {
    for (const key of this.entries.keys()) this.has(key)
  }

  /** Every key, in the order of their creation, as text: two keyspaces with the same text have the same keys. */
  describe(): string {
    const described = this.keys().map((key) => {
      const { type, value, expires } = this.entries.get(key)!
      const content = typeof value === 'object' && !('text' in value) ? [...value] : value
      return [key, type, content, expires === undefined ? -1 : expires - this.now]
    })
    return JSON.stringify(described)
  }

  copyFrom(other: Keyspace): void {
    this.time = other.time
    this.entries.clear()
    for (const [key, { type, value, expires }] of other.entries)
      this.entries.set(key, { type, value: structuredClone(value), expires })
  }

  flush(): void {
    this.entries.clear()
  }
}
