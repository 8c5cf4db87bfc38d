import { clusterManyLocks, clusterOneCaller } from './cluster'
import { farProcess } from './far-process'
import { handoff } from './handoff'
import { heldLocks } from './held-locks'
import { idleWaiters } from './idle-waiters'
import { readWrite } from './read-write'
import type { Scenario } from './scenario'
import { sixteenProcesses } from './sixteen-processes'
import { fourProcesses, manyLocks, oneCaller, oneProcess } from './throughput'

export const SCENARIOS: readonly Scenario[] = [
  oneCaller,
  manyLocks,
  oneProcess,
  fourProcesses,
  handoff,
  idleWaiters,
  sixteenProcesses,
  farProcess,
  readWrite,
  heldLocks,
  clusterOneCaller,
  clusterManyLocks,
]
