import type { Keyspace } from './keyspace'
import type { Reply } from './reply'

/** One command: how many arguments it takes, negative for at least so many, and what it does. */
// The number of arguments is checked before, so those that are named are there.
export type Command = readonly [arity: number, run: (db: Keyspace, args: Arguments) => Reply]
export type Commands = Readonly<Record<string, Command>>
export type Arguments = [string, string, string, ...string[]]
