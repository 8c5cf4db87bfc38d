import { createHash } from 'node:crypto'
import { luaSources } from './lua.generated'

/** A Lua program of ours and the hash under which the server remembers it. */
export interface Script {
  readonly name: keyof typeof luaSources
  readonly source: string
  readonly sha: string
  /** The server is to tell when one of its keys changes afterwards. */
  readonly watchesKeys: boolean
}

export function script(name: keyof typeof luaSources, { watchesKeys = false } = {}): Script {
  const source = luaSources[name]
  return { name, source, sha: createHash('sha1').update(source).digest('hex'), watchesKeys }
}
