import type { OpenSubject, SubjectClient } from '../subjects/subject'
import type { AnyWork } from './protocol'

/** Loaded when asked for: one peer's module must not weigh on the process that measures another. */
const SUBJECTS: Record<string, () => Promise<{ open: OpenSubject }>> = {
  limit: () => import('../subjects/limit'),
  'message-limit': () => import('../subjects/message-limit'),
  rlock: () => import('../subjects/rlock'),
  'rlock-objects': () => import('../subjects/rlock-objects'),
  'node-redisson': () => import('../subjects/node-redisson'),
  'redis-semaphore': () => import('../subjects/redis-semaphore'),
  redlock: () => import('../subjects/redlock'),
  'sesamecare-redlock': () => import('../subjects/sesamecare-redlock'),
  'set-nx-polling': () => import('../subjects/set-nx-polling'),
  'hash-polling': () => import('../subjects/hash-polling'),
}

export async function openSubject(work: AnyWork): Promise<SubjectClient> {
  const load = SUBJECTS[work.subject]
  if (!load) throw new Error(`no subject ${work.subject}`)
  const { open } = await load()
  return open(work)
}
