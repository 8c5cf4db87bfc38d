import { JAVA, LIMIT, LOCK, OBJECTS, REDIS_SEMAPHORE, SET_NX } from '../subjects'
import { ONE_CALLER, turns } from './arms'
import type { Group } from './group'

const PERMITS = 8

export const oneCaller: Group = {
  name: 'one-caller',
  title: 'One caller alone',
  rounds: 5,
  columns: [
    'sectionsPerSecond',
    'waitP50Ms',
    'clientCommandsPerSection',
    'serverCommandsPerSection',
    'serverUsPerSection',
    'clientUsPerSection',
  ],
  arms: [
    turns('no-op', 'no-op baseline: two EVALSHA that do nothing', LIMIT, ONE_CALLER),
    turns('lock', 'plain lock', LOCK, ONE_CALLER),
    turns('fenced', 'fenced lock', OBJECTS, { ...ONE_CALLER, object: 'fenced' }),
    turns('non-reentrant', 'non-reentrant lock', OBJECTS, { ...ONE_CALLER, object: 'non-reentrant' }),
    turns('fair', 'fair lock', OBJECTS, { ...ONE_CALLER, object: 'fair' }),
    turns('token', 'token lock', OBJECTS, { ...ONE_CALLER, object: 'token' }),
    turns('mutex', 'redis-semaphore, Mutex', REDIS_SEMAPHORE, ONE_CALLER),
    turns('set-nx', 'SET NX PX, and a script that compares and deletes', SET_NX, ONE_CALLER),
    turns('semaphore', 'semaphore', OBJECTS, { ...ONE_CALLER, object: 'semaphore', permits: PERMITS }),
    turns('expirable', 'expirable semaphore', OBJECTS, {
      ...ONE_CALLER,
      object: 'expirable-semaphore',
      permits: PERMITS,
    }),
    turns('java-semaphore', 'Java Redisson, semaphore', JAVA, {
      ...ONE_CALLER,
      object: 'semaphore',
      permits: PERMITS,
    }),
  ],
}
