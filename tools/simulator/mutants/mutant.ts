/** The package broken on purpose by one small edit: a judge that lets it pass proves nothing. */
export interface Mutant {
  readonly name: string
  /** The row of docs/internals/failure-modes.md, or the guarantee, that the edit brings back. */
  readonly row: string
  readonly what: string
  /** From the root of the repository. */
  readonly file: string
  /** Stands exactly once in the file. */
  readonly find: string
  readonly replace: string
  /** Where it can show. */
  readonly scenes: readonly string[]
}

/** Throws where the source has changed, so that a mutant never passes for one that is not there. */
export function mutated(mutant: Mutant, source: string): string {
  const found = source.split(mutant.find).length - 1
  if (found !== 1)
    throw new Error(
      `the mutant ${mutant.name} finds its text ${found} times in ${mutant.file}: adapt the mutant`,
    )
  return source.replace(mutant.find, () => mutant.replace)
}

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
