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

/** A run of the parts on one server, one Node or one other runtime. */
export interface Result {
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
  readonly seconds: number
  readonly parts: Readonly<Record<string, Tally>>
  /** Lines of the tests that say what is pending, and why. */
  readonly pendingReasons: readonly string[]
  readonly failures: readonly Failure[]
  /** What failed in the whole run, and passed when its file was run again alone. */
  readonly repeated: readonly string[]
}

/** All runs that the page shows. */
export interface Results {
  readonly servers: readonly Result[]
  readonly nodes: readonly Result[]
  readonly runtimes: readonly Result[]
  /** The command `rlock` with each Node. */
  readonly command: readonly Result[]
}

const NONE: Tally = { passed: 0, pending: 0, failed: 0 }

export function total(parts: Readonly<Record<string, Tally>>): Tally {
  return Object.values(parts).reduce(
    (sum, each) => ({
      passed: sum.passed + each.passed,
      pending: sum.pending + each.pending,
      failed: sum.failed + each.failed,
    }),
    NONE,
  )
}

/** `known` with the runs of `fresh` in place of those of the same names; in the order of `names`. */
export function merged(
  known: readonly Result[],
  fresh: readonly Result[],
  names: readonly string[],
): Result[] {
  const byName = new Map([...known, ...fresh].map((result) => [result.name, result]))
  return names.flatMap((name) => byName.get(name) ?? [])
}
