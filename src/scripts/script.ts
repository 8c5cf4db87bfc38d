import { createHash } from 'node:crypto'
import { luaSources } from './lua.generated'

export type ScriptName = keyof typeof luaSources

/** A Lua script, the hash under which the server caches it, and the decoder of its answer. */
export interface Script<Value = unknown> {
  readonly name: ScriptName
  readonly source: string
  readonly sha: string
  /** Turns the server's answer into a typed value. No other code reads the raw answer. */
  decode(raw: unknown): Value
}

export function script<Value>(name: ScriptName, decode: (raw: unknown) => Value): Script<Value> {
  const source = luaSources[name]
  let sha: string | undefined
  return {
    name,
    source,
    /** Computed at the first call and not at import, because most programs use few of the scripts. */
    get sha() {
      sha ??= createHash('sha1').update(source).digest('hex')
      return sha
    },
    decode,
  }
}
