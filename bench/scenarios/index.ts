import type { Scenario } from './scenario'
import { fourProcesses, manyLocks, oneFlow, oneProcess } from './throughput'

export const SCENARIOS: readonly Scenario[] = [oneFlow, manyLocks, oneProcess, fourProcesses]
