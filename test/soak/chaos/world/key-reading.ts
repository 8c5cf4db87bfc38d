import type { LockKind, LockPlan } from '../plan/objects'
import type { Topology } from './topology'

/** What Redis has of a lock. */
export interface KeyReading {
  /** Who holds it: fields, or the token. */
  readonly fields: readonly string[]
  /** Who heads the queue of a fair lock, and is let in before all others. */
  readonly head: string | undefined
}

const FAIR: readonly LockKind[] = ['fair', 'nonReentrantFair']

export async function readKey({ observer }: Topology, { name, kind }: LockPlan): Promise<KeyReading> {
  if (kind === 'token') {
    const token = await observer.get(name)
    return { fields: token === null ? [] : [token], head: undefined }
  }
  const head = FAIR.includes(kind) ? await observer.lindex(queueOf(name), 0) : null
  const fields = Object.keys(await observer.hgetall(name)).filter((field) => field !== 'mode')
  return { fields, head: head ?? undefined }
}

const queueOf = (name: string): string => `redisson_lock_queue:{${name}}`
