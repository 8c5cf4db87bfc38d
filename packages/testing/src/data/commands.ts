import type { Arguments, Command } from './command'
import { hashCommands } from './hash-commands'
import { keyCommands } from './key-commands'
import type { Keyspace } from './keyspace'
import { type Reply, ReplyError } from './keyspace'
import { listCommands } from './list-commands'
import { sortedSetCommands } from './sorted-set-commands'
import { setCommands, stringCommands } from './string-commands'

const COMMANDS = new Map<string, Command>(
  [keyCommands, stringCommands, hashCommands, listCommands, setCommands, sortedSetCommands].flatMap((group) =>
    Object.entries(group),
  ),
)

/** Why a command cannot run, because of its name or the number of its arguments. */
export type Malformed = 'unknown command' | 'wrong number of arguments'

export function malformed(name: string, args: readonly string[]): Malformed | undefined {
  const command = COMMANDS.get(name)
  if (!command) return 'unknown command'
  const [arity] = command
  const fits = arity < 0 ? args.length >= -arity : args.length === arity
  return fits ? undefined : 'wrong number of arguments'
}

/** Runs a command by its lower-case name; throws ReplyError. */
export function runCommand(db: Keyspace, name: string, args: readonly string[]): Reply {
  const wrong = malformed(name, args)
  if (wrong === 'unknown command') throw new ReplyError(`ERR unknown command '${name}'`)
  if (wrong) throw new ReplyError(`ERR wrong number of arguments for '${name}' command`)
  return runWellFormed(db, name, args)
}

/** Runs a command that is known, with arguments that fit. */
export function runWellFormed(db: Keyspace, name: string, args: readonly string[]): Reply {
  const [, run] = COMMANDS.get(name)!
  return run(db, args as unknown as Arguments)
}
