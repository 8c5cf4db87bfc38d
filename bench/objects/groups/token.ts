import { OBJECTS, REDIS_SEMAPHORE, SET_NX } from '../subjects'
import { turns } from './arms'
import type { Group } from './group'

const SETUP = { processes: 4, callers: 4 }

export const token: Group = {
  name: 'token-4x4',
  title: 'Token lock, 4 processes of 4 callers',
  rounds: 3,
  columns: [
    'sectionsPerSecond',
    'waitP50Ms',
    'waitP99Ms',
    'waitMaxMs',
    'leastCallerShare',
    'clientCommandsPerSection',
  ],
  arms: [
    turns('token', 'token lock', OBJECTS, { ...SETUP, object: 'token' }),
    turns('mutex', 'redis-semaphore, Mutex', REDIS_SEMAPHORE, SETUP),
    turns('set-nx', 'SET NX PX, looks every 50 ms', SET_NX, SETUP),
  ],
}
