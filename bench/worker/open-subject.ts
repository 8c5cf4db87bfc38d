import type { OpenSubject, SubjectClient } from '../subjects/subject'
import type { Address } from './protocol'

/** Loaded when asked for: one peer's module must not weigh on the process that measures another. */
const SUBJECTS: Record<string, () => Promise<{ open: OpenSubject }>> = {
  limit: () => import('../subjects/limit'),
  'message-limit': () => import('../subjects/message-limit'),
  rlock: () => import('../subjects/rlock'),
  'node-redisson': () => import('../subjects/node-redisson'),
  'redis-semaphore': () => import('../subjects/redis-semaphore'),
  redlock: () => import('../subjects/redlock'),
  'sesamecare-redlock': () => import('../subjects/sesamecare-redlock'),
  'set-nx-polling': () => import('../subjects/set-nx-polling'),
  'hash-polling': () => import('../subjects/hash-polling'),
}

export async function openSubject(name: string, at: Address): Promise<SubjectClient> {
  const load = SUBJECTS[name]
  if (!load) throw new Error(`no subject ${name}`)
  const { open } = await load()
  return open(at)
}
