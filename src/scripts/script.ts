import { createHash } from 'node:crypto'
import { luaSources } from './lua.generated'

export type ScriptName = keyof typeof luaSources

/** A Lua script, the hash under which the server caches it, and how to read its answer. */
export interface Script<Value = unknown> {
  readonly name: ScriptName
  readonly source: string
  readonly sha: string
  /** The server is to notify this client when one of the script's keys changes afterwards. */
  readonly watchesKeys: boolean
  /** Turns the server's answer into a value with a type. Nothing else sees the raw answer. */
  decode(raw: unknown): Value
}

export function script<Value>(
  name: ScriptName,
  decode: (raw: unknown) => Value,
  { watchesKeys = false } = {},
): Script<Value> {
  const source = luaSources[name]
  let sha: string | undefined
  return {
    name,
    source,
    /** At the first call, not at import: most programs use few of the scripts. */
    get sha() {
      sha ??= createHash('sha1').update(source).digest('hex')
      return sha
    },
    watchesKeys,
    decode,
  }
}
