import { safe } from './terminal'

/** A longer word is not copied from a terminal. */
const LONGEST = 200

/** The text as one word of a shell; undefined where a terminal would not show that word as it is, and a copy would be another text. */
export function shellWord(text: string): string | undefined {
  if (text === '' || safe(text, LONGEST) !== text) return undefined
  return /^[\w+][\w:./,+@%-]*$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}

/** The command that frees this lock, to be copied into a shell. */
export function unlockCommand(name: string, isToken: boolean): string {
  const word = shellWord(name)
  const kind = isToken ? ' --kind token' : ''
  if (word === undefined) return `rlock unlock NAME${kind}, with the name as rlock ls --json shows it`
  // Behind `--` nothing is an option.
  return `rlock unlock${kind} ${name.startsWith('-') ? '-- ' : ''}${word}`
}
