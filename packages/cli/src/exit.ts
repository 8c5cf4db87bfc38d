import { RedisRefusedError, RedisUnavailableError } from 'rlock'

/** The exit codes of every command; `exec` has two more. */
export const EXIT = { done: 0, found: 1, usage: 2, unreachable: 69, notAcquired: 75, lost: 76 } as const

/** Wrong arguments: the program ends with 2 and says how the command is used. */
export class UsageError extends Error {}

export function exitCodeOf(error: unknown): number {
  if (error instanceof UsageError || isOptionError(error)) return EXIT.usage
  if (error instanceof RedisUnavailableError || error instanceof RedisRefusedError) return EXIT.unreachable
  return EXIT.found
}

/** parseArgs of Node throws these for options that a command does not have. */
export function isOptionError(error: unknown): boolean {
  return String((error as { code?: unknown }).code).startsWith('ERR_PARSE_ARGS')
}
