import { luaHashes, luaSources } from './lua.generated'

export type ScriptName = keyof typeof luaSources

/** A Lua script, the hash under which the server caches it, and the decoder of its answer. */
export interface Script<Value = unknown> {
  readonly name: string
  readonly source: string
  readonly sha: string
  /** Turns the server's answer into a typed value. No other code reads the raw answer. */
  decode(raw: unknown): Value
}

export function script<Value>(name: ScriptName, decode: (raw: unknown) => Value): Script<Value> {
  return { name, source: luaSources[name], sha: luaHashes[name], decode }
}
