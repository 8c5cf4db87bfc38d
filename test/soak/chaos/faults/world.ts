import type { LockPlan } from '../plan/objects'
import type { EpochCount } from '../world/key-watch'
import type { Topology } from '../world/topology'
import type { Workforce } from '../world/workforce'

/** All that a fault can be done to. */
export interface World {
  readonly topology: Topology
  readonly workforce: Workforce
  readonly locks: readonly LockPlan[]
  /** What takes part by that number: where its key lives something may be broken. */
  nameOf(index: number): string
  readonly epochs: EpochCount
}
