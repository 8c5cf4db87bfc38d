import type { Redis } from 'ioredis'
import type { Connection } from '../connection'
import type { Row } from '../model'
import type { ProcessAnswer } from '../processes'

/** What `doctor` says of one defect. */
export interface Finding {
  readonly id: string
  readonly level: 'error' | 'warn'
  readonly message: string
  /** The page that explains it: a file of the repository. */
  readonly page: string
  /** What to do. */
  readonly fix: string
  /** Does it, where that can do no harm, and resolves with whether it was still to be done. `--fix` calls it. */
  readonly mend?: () => Promise<boolean>
}

/** One primary, with what INFO says of it. */
export interface Node {
  readonly redis: Redis
  readonly address: string
  readonly info: ReadonlyMap<string, string>
}

/** What the checks look at. It is read once. */
export interface Patient {
  readonly connection: Connection
  readonly nodes: readonly Node[]
  readonly rows: readonly Row[]
  readonly processes: readonly ProcessAnswer[]
  /** The names that the services use, as the user says: patterns of the ACL. */
  readonly names: readonly string[]
  /** What is held for longer, in ms, is a finding. */
  readonly longerThan: number | undefined
  /** A value of CONFIG GET; undefined without the right. */
  config(node: Node, name: string): Promise<string | undefined>
}

/** A check: its findings, or none. */
export type Check = (patient: Patient) => Promise<readonly Finding[]> | readonly Finding[]

/** A check of each primary by itself: a row of a table. */
export interface NodeCheck {
  readonly id: string
  readonly level: 'error' | 'warn'
  readonly page: string
  readonly fix: string | ((node: Node) => string)
  /** What is wrong; undefined if nothing is. */
  readonly wrong: (node: Node, patient: Patient) => Promise<string | undefined> | string | undefined
}

export const fromTable =
  (table: readonly NodeCheck[]): Check =>
  async (patient) => {
    const findings: Finding[] = []
    for (const node of patient.nodes)
      for (const { wrong, ...check } of table) {
        const message = await wrong(node, patient)
        const fix = typeof check.fix === 'string' ? check.fix : check.fix(node)
        if (message !== undefined) findings.push({ ...check, fix, message: `${node.address}: ${message}` })
      }
    return findings
  }
