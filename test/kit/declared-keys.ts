import { type Reply, ReplyError } from '../../packages/testing/src/data/keyspace'
import { type RunCommand, ScriptMachine } from '../../packages/testing/src/lua/script-machine'
import { luaSources } from '../../src/scripts/lua.generated'

/** What a script that names further keys says to Dragonfly, at its head. */
export const UNDECLARED_ALLOWED = '--!df flags=allow-undeclared-keys\n'

/** Commands whose words are all keys; of the others the first word is. */
const MANY_KEYS = new Set(['del', 'exists', 'unlink'])
const NO_KEYS = new Set(['time', 'publish', 'spublish'])

const { run } = ScriptMachine.prototype
/** Tests send others, to look at what a server has. */
const STRICT = new Set<string>(
  Object.values(luaSources).filter((source) => !source.startsWith(UNDECLARED_ALLOWED)),
)

/**
 * The in-memory servers of this process now refuse each key that a script of ours has not in KEYS, as Dragonfly does, unless
 * the script has the flag. Returns a function that ends this and throws if there was such a key.
 */
export function refuseUndeclaredKeys(): () => void {
  const refused = new Set<string>()
  ScriptMachine.prototype.run = function (source, keys, args, runCommand): Reply {
    if (!STRICT.has(source)) return run.call(this, source, keys, args, runCommand)
    const declared = new Set(keys)
    const inKeys: RunCommand = (name, words) => {
      const named = NO_KEYS.has(name) ? [] : MANY_KEYS.has(name) ? words : words.slice(0, 1)
      const undeclared = named.find((key) => !declared.has(key))
      if (undeclared === undefined) return runCommand(name, words)
      refused.add(`${name} in the script: ${source}`)
      throw new ReplyError(`ERR script tried accessing undeclared key ${undeclared}`)
    }
    return run.call(this, source, keys, args, inKeys)
  }
  return () => {
    ScriptMachine.prototype.run = run
    if (refused.size > 0) throw new Error(`a key that is not in KEYS: ${[...refused].join('\n\n')}`)
  }
}
