import type { Stage } from './stage'

export type Inject = (stage: Stage, random: Chooser) => void

export interface Chooser {
  choose(options: number): number
  pick<T>(elements: readonly T[]): T
}

/** A fault, and how often it is drawn in comparison with the others. */
export interface Fault {
  readonly kind: string
  readonly weight: number
  readonly inject: Inject
  /** Only where the servers have replicas. */
  readonly needsReplica?: boolean
}

/** A silent connection with commands in flight is closed within 10 s. Then the client connects again, and waits for a fence. */
export const FIND_SILENCE = 11_000

export const longestLease = ({ settings }: Stage) => Math.max(settings.watchdogTimeout, ...settings.leases)

export const living = ({ clients }: Stage) => clients.filter(({ isAlive }) => isAlive)
