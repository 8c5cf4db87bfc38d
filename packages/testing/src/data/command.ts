import type { Keyspace, Reply } from './keyspace'

/** A command: its number of arguments (negative: at least that many), and the function that runs it. */
// The number of arguments is checked first, so the arguments that a function names exist.
export type Command = readonly [arity: number, run: (db: Keyspace, args: Arguments) => Reply]
export type Commands = Readonly<Record<string, Command>>
export type Arguments = [string, string, string, ...string[]]
