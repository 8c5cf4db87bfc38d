import type { Script } from 'rlock/internal'
import { luaHashes, luaSources } from './lua.generated'

/** The scripts of this package are in lua/. */
export function script<Value>(name: keyof typeof luaSources, decode: (raw: unknown) => Value): Script<Value> {
  return { name, source: luaSources[name], sha: luaHashes[name], decode }
}
