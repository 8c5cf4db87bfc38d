import { JAVA, OBJECTS, REDIS_SEMAPHORE_SEMAPHORE } from '../subjects'
import { turns } from './arms'
import type { Group } from './group'

const COLUMNS = [
  'sectionsPerSecond',
  'waitP50Ms',
  'waitP99Ms',
  'waitP99Turns',
  'leastCallerShare',
  'clientCommandsPerSection',
  'messagesPerSection',
  'serverUsPerSection',
  'clientUsPerSection',
]
const SEMAPHORE = { object: 'semaphore', permits: 8 } as const

const ONE_PROCESS = { ...SEMAPHORE, processes: 1, callers: 64 }
const FOUR_PROCESSES = { ...SEMAPHORE, processes: 4, callers: 16 }

export const semaphoreOne: Group = {
  name: 'semaphore-64',
  title: '64 callers of one process on 8 permits',
  rounds: 3,
  columns: COLUMNS,
  arms: [
    turns('semaphore', 'semaphore', OBJECTS, ONE_PROCESS),
    turns('java', 'Java Redisson', JAVA, ONE_PROCESS),
    turns('redis-semaphore', 'redis-semaphore, Semaphore', REDIS_SEMAPHORE_SEMAPHORE, ONE_PROCESS),
  ],
}

export const semaphoreFour: Group = {
  name: 'semaphore-4x16',
  title: '4 processes of 16 callers on 8 permits',
  rounds: 3,
  columns: COLUMNS,
  arms: [
    turns('semaphore', 'semaphore', OBJECTS, FOUR_PROCESSES),
    turns('java', 'Java Redisson', JAVA, FOUR_PROCESSES),
  ],
}
