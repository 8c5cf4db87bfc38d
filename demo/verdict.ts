import { type Evidence, LANGUAGES, type Language } from './evidence'

export interface FinalState {
  /** What the counter says in the end. */
  readonly counter: number
  /** What the other key of the record says, where there is one. */
  readonly twin?: number
  /** Entries in the log's stream, two for each section. */
  readonly logLength: number
  readonly withJava: boolean
}

/** Why the run did not prove what it should: empty when it did. */
export function faultsOf(evidence: Evidence, { counter, logLength, withJava }: FinalState): string[] {
  const { sections, overlaps, doubleGrants, unguarded } = evidence
  const lost = sections.length - counter
  return said(
    overlaps && `${overlaps} of ${sections.length} turns overlapped another`,
    doubleGrants && `the lock was granted ${doubleGrants} times while another owned it`,
    unguarded && `a process was inside without owning the lock ${unguarded} times`,
    lost && `${lost} updates of the counter were lost`,
    ...gapsIn(evidence, logLength),
    missing(evidence, withJava ? LANGUAGES : ['Node']),
  )
}

/** Why the record cannot be trusted to be whole. */
export function gapsIn(
  { sections, inside, strays }: Evidence,
  logLength: number,
): (string | number | false)[] {
  const unseen = logLength - (2 * sections.length - inside.length + strays)
  return [
    inside.length && `${inside.length} turns never ended`,
    strays && `${strays} turns ended that never began`,
    unseen && `the record misses ${unseen} entries of the log`,
    sections.length === 0 && 'no caller ever took the lock',
  ]
}

/** Those that apply. */
export function said(...faults: (string | number | false)[]): string[] {
  return faults.filter((fault) => typeof fault === 'string')
}

function missing({ handoffs }: Evidence, languages: readonly Language[]): string | false {
  const directions = languages.flatMap((from) =>
    languages.filter((to) => handoffs[from][to] === 0).map((to) => `${from} -> ${to}`),
  )
  return directions.length > 0 && `no handoff ${directions.join(', ')}`
}
