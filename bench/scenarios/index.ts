import { LOCK_SCENARIOS } from './locks'
import { OBJECT_SCENARIOS } from './objects'
import type { Scenario } from './scenario'

export const SCENARIOS: readonly Scenario[] = [...LOCK_SCENARIOS, ...OBJECT_SCENARIOS]
