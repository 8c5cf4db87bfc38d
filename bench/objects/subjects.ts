import { SUBJECTS, type Subject } from '../subjects/catalogue'

const named = (wanted: string): Subject => SUBJECTS.find(({ name }) => name === wanted)!

export const LIMIT = named('limit')
export const JAVA = named('java')
export const REDIS_SEMAPHORE = named('redis-semaphore')
export const SET_NX = named('set-nx-polling')
/** Its semaphore is released by a plain ZREM, which no script of it calls. */
export const REDIS_SEMAPHORE_SEMAPHORE: Subject = { ...REDIS_SEMAPHORE, alsoSent: { zrem: 1 } }
/** The plain lock. */
export const LOCK = named('rlock')
/** All other objects of rlock. */
export const OBJECTS: Subject = { ...LOCK, name: 'rlock-objects' }
