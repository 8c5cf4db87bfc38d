import type { Mutant } from './mutant'

/** An edit of a script. */
export const lua = (
  file: string,
  scenes: readonly string[],
  name: string,
  row: string,
  what: string,
  find: string,
  replace: string,
): Mutant => ({ file: `lua/${file}.lua`, scenes, name, row, what, find, replace })
