import type { LockPlan } from '../worker/messages'
import type { Topology } from '../world/topology'
import type { Workforce } from '../world/workforce'

/** All that a fault can be done to. */
export interface World {
  readonly topology: Topology
  readonly workforce: Workforce
  readonly locks: readonly LockPlan[]
}
