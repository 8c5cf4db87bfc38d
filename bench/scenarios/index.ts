import { clusterManyLocks, clusterOneFlow } from './cluster'
import { handOver } from './hand-over'
import { heldLocks } from './held-locks'
import { idleWaiters } from './idle-waiters'
import { readWrite } from './read-write'
import type { Scenario } from './scenario'
import { sixteenProcesses } from './sixteen-processes'
import { fourProcesses, manyLocks, oneFlow, oneProcess } from './throughput'

export const SCENARIOS: readonly Scenario[] = [
  oneFlow,
  manyLocks,
  oneProcess,
  fourProcesses,
  handOver,
  idleWaiters,
  sixteenProcesses,
  readWrite,
  heldLocks,
  clusterOneFlow,
  clusterManyLocks,
]
