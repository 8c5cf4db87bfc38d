import { FAILOVER, LOCK_SCRIPTS } from './lock-scripts'
import type { Mutant } from './mutant'
import { QUEUE_SCRIPTS } from './queue-scripts'
import { SOURCES } from './sources'

export const MUTANTS: readonly Mutant[] = [...LOCK_SCRIPTS, ...QUEUE_SCRIPTS, ...SOURCES, ...FAILOVER]
