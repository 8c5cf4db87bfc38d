export const KINDS = ['servers', 'nodes', 'runtimes', 'command'] as const
export type Kind = (typeof KINDS)[number]

/** What the tests of one part did. */
export interface Tally {
  readonly passed: number
  readonly pending: number
  readonly failed: number
}

export interface Failure {
  /** The part, or undefined where no file of a part is to blame. */
  readonly part: string | undefined
  readonly title: string
  readonly message: string
}

export interface Outcome {
  readonly parts: Readonly<Record<string, Tally>>
  readonly failures: readonly Failure[]
}

/** A run of the parts on one server, one Node or one other runtime. */
export interface Result extends Outcome {
  /** Short, as `--only` takes it. */
  readonly name: string
  readonly title: string
  /** What the program itself says of its version. */
  readonly version: string
  /** Where the program is from, such as a package and its version. */
  readonly from: string
  /** What it ran with: the version of Node, or of the server. */
  readonly beside: string
  /** The day of the run: 2026-11-22. */
  readonly date: string
}

/** All runs that the page shows. */
export type Results = Readonly<Record<Kind, readonly Result[]>>

/** The outcome of checks, one a part: those of `failures` have failed. */
export function checked(checks: readonly { name: string }[], failures: readonly Failure[]): Outcome {
  const failed = new Set(failures.map(({ part }) => part))
  const parts = checks.map(({ name }): [string, Tally] => [
    name,
    { passed: failed.has(name) ? 0 : 1, pending: 0, failed: failed.has(name) ? 1 : 0 },
  ])
  return { parts: Object.fromEntries(parts), failures }
}
